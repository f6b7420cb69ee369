import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { StrictMode } from "react";
import { App } from "../src/App";

/** The whole app as `main.tsx` starts it, strict mode included. */
export function renderApp() {
  const client = new QueryClient();
  return render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
