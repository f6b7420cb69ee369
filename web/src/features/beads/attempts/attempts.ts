import type { Attempt, Attempts } from "../../../api/types";
import type { Tone } from "../../../ui/Status";

/** Where all attempts at a bead stand, in a sentence. */
export function standing(found: Attempts): string {
  if (found.note) return found.note;
  if (found.state === "running") {
    return found.needsChoice ? "All are at rest: the choice is yours." : "Agents are at work.";
  }
  if (found.picked) return `Attempt ${found.picked} was picked.`;
  return found.state === "dropping" ? "They are being put away." : "All of them were put away.";
}

/** Whether one can still be picked, or all be dropped. */
export function isOpen({ state }: Attempts): boolean {
  return state === "running";
}

/** What the gates say about an attempt, in a word that is not its colour. */
export function gatesOf(attempt: Attempt): { word: string; tone: Tone; why?: string } {
  const failed = attempt.gates.find(({ passed }) => !passed);
  if (failed) {
    return {
      word: `${failed.gate} failed`,
      tone: "bad",
      ...(failed.detail && { why: failed.detail }),
    };
  }
  return attempt.gatesPassed
    ? { word: "gates passed", tone: "ok" }
    : { word: "not judged", tone: "plain" };
}

/** Why an attempt cannot be picked. */
export function whyNotPick(found: Attempts, attempt: Attempt): string | undefined {
  if (attempt.picked) return "It was picked.";
  if (!isOpen(found)) return "The choice was made.";
  return attempt.commit ? undefined : "It has made no commit yet.";
}

/** Whether picking it goes against its gates, so that it has to be said. */
export function needsForce(attempt: Attempt): boolean {
  return attempt.gatesPassed !== true;
}
