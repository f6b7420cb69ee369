import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, post, put, remove } from "../../api/client";
import type { Budget, SetBudget, TryBudget } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";

/** All limits of the tenant, with what is spent and held back now. */
export const budgetsQuery = queryOptions({
  queryKey: ["budgets"],
  queryFn: () => get("/api/v1/budgets"),
});

onLive({ on: ["budget:*"], invalidate: () => [budgetsQuery.queryKey] });
onLive({
  on: ["agent:*", "usage:*"],
  invalidate: () => [budgetsQuery.queryKey],
  everyMs: 5_000,
});

/** What a limit would have done; nothing is set. */
export const trialQuery = (wanted: TryBudget) =>
  queryOptions({
    queryKey: ["budget-trial", wanted],
    queryFn: () => post("/api/v1/budgets/trial", wanted),
    retry: false,
    staleTime: 0,
    // What was tried before stays in sight until the answer is there.
    placeholderData: keepPreviousData,
  });

/** Sets a limit. What is wrong with it is told in the form, so the form sends it. */
export function setBudget(budget: SetBudget): Promise<Budget> {
  return put("/api/v1/budgets", budget);
}

/** Takes a limit away; what was spent counts again if it comes back. */
export function useRemoveBudget() {
  return useChange<Budget, void>({
    what: (budget) => `Remove the budget of ${budget.scope}`,
    send: (budget) => remove(`/api/v1/budgets/${encodeURIComponent(budget.id)}`),
    expect: (cache, budget) =>
      cache.update<{ items: Budget[] }>(budgetsQuery.queryKey, ({ items }) => ({
        items: items.filter(({ id }) => id !== budget.id),
      })),
    settle: () => [budgetsQuery.queryKey],
    done: () => "The budget was removed",
    undo: ({ scope, period, capMicros, warnPercent, hardStop, gracePercent, tell }) =>
      setBudget({
        ...{ scope, period, capMicros, warnPercent },
        // What the server did not say is as usual, and that is what nothing stands for.
        ...{ hardStop: hardStop ?? null, gracePercent: gracePercent ?? null, tell: tell ?? null },
      }),
  });
}
