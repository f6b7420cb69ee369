import type { Budget } from "../../api/types";
import { inOrder, isUsedUp } from "./budgets";

/** Work that somebody is about to begin, as far as it is known by then. */
export interface NewWork {
  userId: string;
  projectId: string | undefined;
  bead?: string | undefined;
  convoy?: string | undefined;
}

/**
 * Budgets that would refuse requests of new work now, the widest first; as the server counts it in
 * `crates/model/src/spend/call.rs`. A budget of an agent is not among them: a new one has spent nothing.
 */
export function usedUpFor(work: NewWork, budgets: readonly Budget[], now: number): Budget[] {
  const { userId, projectId, bead, convoy } = work;
  const scopes = ["tenant", `user:${userId}`];
  if (projectId !== undefined) scopes.push(`project:${projectId}`);
  if (bead !== undefined) scopes.push(`bead:${bead}`);
  if (convoy !== undefined) scopes.push(`convoy:${convoy}`);
  return inOrder(budgets).filter(
    (budget) => scopes.includes(budget.scope) && isUsedUp(budget) && !isOver(budget, now),
  );
}

/** What was read yesterday says nothing about the budget of today. */
function isOver({ endsAt }: Budget, now: number): boolean {
  return endsAt != null && Date.parse(endsAt) <= now;
}
