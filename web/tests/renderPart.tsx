import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { newQueryClient } from "../src/queryClient";
import { SessionProvider } from "../src/roles/session";
import { SESSION } from "./fakeServer";

/** A part of a page, with what the whole page has around it: answers of the server and a person. */
export function renderPart(part: ReactNode, session = SESSION) {
  return render(
    <QueryClientProvider client={newQueryClient()}>
      <SessionProvider value={session}>{part}</SessionProvider>
    </QueryClientProvider>,
  );
}
