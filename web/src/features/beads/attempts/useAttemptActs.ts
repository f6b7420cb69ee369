import type { Attempt, Attempts } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { needsForce } from "./attempts";
import { type TriedBead, useDropAttempts, usePickAttempt } from "./queries";

/** How an attempt is picked on the command line. */
export function pickCli(bead: string, attempt: Attempt): string {
  return `godel attempt pick ${bead} ${attempt.number}${needsForce(attempt) ? " --force" : ""}`;
}

/** How all are dropped on the command line. */
export function dropCli(bead: string): string {
  return `godel attempt drop ${bead}`;
}

/** Picks one or drops all, each after a question: agents are stopped by it. */
export function useAttemptActs(bead: TriedBead) {
  const picking = usePickAttempt(bead);
  const dropping = useDropAttempts(bead);
  const pick = async (attempt: Attempt) => {
    const force = needsForce(attempt);
    const judged = force
      ? "Its gates did not pass, or were not run; the merge queue judges it before it lands. "
      : "";
    const isSure = await confirm({
      title: `Pick attempt ${attempt.number}?`,
      body: `${judged}It becomes the work of ${bead.id}, which goes to review. The others are stopped and put away; nothing of them is lost.`,
      act: force ? "Pick it all the same" : "Pick it",
      cli: pickCli(bead.id, attempt),
    });
    if (isSure) picking.mutate({ attempt, force });
    return isSure;
  };
  const drop = async (found: Attempts) => {
    const isSure = await confirm({
      title: `Drop all ${found.attempts.length} attempts?`,
      body: `Agents that are at work are stopped, all of it is put away, and ${bead.id} is open again.`,
      act: "Drop them",
      cli: dropCli(bead.id),
    });
    if (isSure) dropping.mutate();
  };
  return { pick, drop };
}
