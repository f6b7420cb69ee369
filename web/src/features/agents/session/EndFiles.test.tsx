import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import type { Agent, TalkCompared } from "../../../api/types";
import { EndFiles } from "./EndFiles";
import { sessionQueries } from "./queries";

const AGENT = { id: "a1", sessionId: "s1", label: "worker-1" } as Agent;
const SAME = {
  left: { node: 3, filesOf: 2, live: false, commit: "0123456789abcdef" },
  right: { node: 5, filesOf: 5, live: true, commit: null },
  files: 0,
  added: 0,
  removed: 0,
  patch: "",
  cut: false,
} satisfies TalkCompared;
const PATCH = `diff --git a/a.txt b/a.txt
index 5626abf..f719efd 100644
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+two
`;

function show(found: TalkCompared) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(sessionQueries.ends(AGENT, 3, 5).queryKey, found);
  render(
    <QueryClientProvider client={client}>
      <EndFiles agent={AGENT} left={3} right={5} />
    </QueryClientProvider>,
  );
}

beforeEach(() => window.history.replaceState(null, "", "/dashboard/agents/worker-1"));

describe("the files of two ends", () => {
  it("X1 are shown file by file, and whose they are", () => {
    show({ ...SAME, files: 1, added: 1, removed: 1, patch: PATCH });
    const file = within(screen.getByRole("region", { name: "a.txt" }));
    expect(file.getByText("one")).toBeTruthy();
    expect(file.getByText("two")).toBeTruthy();
    expect(screen.getByText(/the snapshot before it, at #2/)).toBeTruthy();
    expect(screen.getByText(/its worktree as it is now/)).toBeTruthy();
    expect(screen.getByText("godel session compare worker-1 3 5")).toBeTruthy();
  });

  it("X1 say that they are the same", () => {
    show(SAME);
    expect(screen.getByText("Their files are the same.")).toBeTruthy();
  });

  it("X1 say that none were kept, and what to do", () => {
    show({ ...SAME, left: { node: 3, filesOf: null, live: false } });
    expect(screen.getByText(/No files were kept at this end\. Take a snapshot there/)).toBeTruthy();
    expect(screen.getByText("godel agent snapshot worker-1")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Open the snapshots" }));
    expect(window.location.search).toBe("?snapshots=1");
  });
});
