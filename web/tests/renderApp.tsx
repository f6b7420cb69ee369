import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { StrictMode } from "react";
import { App } from "../src/App";
import { newQueryClient } from "../src/queryClient";

/** The whole app as `main.tsx` starts it, strict mode included. */
export function renderApp() {
  return render(
    <StrictMode>
      <QueryClientProvider client={newQueryClient()}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
