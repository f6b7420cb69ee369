import type { Budget } from "../../api/types";
import { Link } from "../../router/Link";
import { money } from "../../ui/format";
import { Notice } from "../../ui/Notice";
import { useScopeTitle } from "./BudgetList";
import { PERIOD_TITLES, type Period } from "./budgets";
import type { NewWork } from "./usedUp";
import { useUsedUpFor } from "./useUsedUp";

interface UsedUpNoteProps {
  budgets: readonly Budget[];
  /** Whose requests would be refused. */
  who?: string;
}

/** Says of each budget that is used up how much is spent of how much, and where that is changed. */
export function UsedUpNote({ budgets, who = "the agent" }: UsedUpNoteProps) {
  const titleOf = useScopeTitle();
  const sentences = budgets.map(({ scope, period, spentMicros, capMicros }) => {
    const each = PERIOD_TITLES[period as Period]?.toLowerCase() ?? period;
    const spent = `${money(spentMicros)} of ${money(capMicros)} is spent`;
    return `The budget “${titleOf(scope)}, ${each}” is used up: ${spent}.`;
  });
  return (
    <span>
      {sentences.join(" ")} Requests of {who} would be refused.{" "}
      <Link to="/costs?tab=budgets">Open the budgets</Link>
    </span>
  );
}

/** The same for a form that has no field of its own for it; nothing if money is left. */
export function UsedUpNotice(work: Omit<NewWork, "userId">) {
  const budgets = useUsedUpFor(work);
  if (budgets.length === 0) return null;
  return (
    <Notice tone="plain">
      <UsedUpNote budgets={budgets} who="the agents" />
    </Notice>
  );
}
