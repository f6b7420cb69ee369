import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok, SESSION } from "../../../../tests/fakeServer";
import type { Run, RunStep, Task } from "../../../api/types";
import { SessionProvider } from "../../../roles/session";
import { queueQueries } from "../queries";
import { RunPage } from "./RunPage";

const RUN = {
  ...{ id: "run-12345678", name: "release", state: "succeeded", priority: "medium" },
  ...{ createdAt: "2026-11-16T10:00:00Z", finishedAt: "2026-11-16T10:01:00Z" },
  ...{
    createdBy: "u1",
    progress: 1,
    maxConcurrency: 4,
    counts: { succeeded: 1 },
    criticalPath: [],
  },
} as unknown as Run;
const STEP = { id: "build", kind: "task", taskId: "t1", dependsOn: [], state: "succeeded" };

it("X2 how often a step was tried is asked of the tasks of this run alone", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(queueQueries.run(RUN.id).queryKey, RUN);
  client.setQueryData(queueQueries.steps(RUN.id).queryKey, [STEP as unknown as RunStep]);
  const filter = encodeURIComponent(JSON.stringify({ run: RUN.id }));
  const calls = fakeServer({
    [`GET /api/v1/tasks?limit=100&filter=${filter}`]: () =>
      ok({ items: [{ id: "t1", attempt: 3 } as Task], pagination: { hasMore: false } }),
  });
  window.history.replaceState(null, "", "/dashboard/queue/runs/run-12345678?view=list");
  render(
    <QueryClientProvider client={client}>
      <SessionProvider value={SESSION}>
        <RunPage id={RUN.id} />
      </SessionProvider>
    </QueryClientProvider>,
  );
  await screen.findByText(/^3 attempts$/);
  expect(calls.filter(({ path }) => path.startsWith("/api/v1/tasks"))).toHaveLength(1);
});
