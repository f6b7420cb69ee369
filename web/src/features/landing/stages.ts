import type { Landing } from "../../api/types";
import type { IconName } from "../../ui/Icon";
import type { Tone } from "../../ui/Status";

interface Look {
  title: string;
  tone: Tone;
  icon: IconName;
}

const LOOKS: Record<string, Look> = {
  waiting: { title: "Waiting", tone: "plain", icon: "clock" },
  checking: { title: "Being checked", tone: "info", icon: "play" },
  mending: { title: "Conflict is repaired", tone: "warn", icon: "edit" },
  proposed: { title: "Waits for its pull request", tone: "info", icon: "review" },
  pushing: { title: "Being pushed", tone: "info", icon: "up" },
  landed: { title: "Landed", tone: "ok", icon: "check" },
  failed: { title: "Did not land", tone: "bad", icon: "alert" },
  removed: { title: "Removed", tone: "plain", icon: "cross" },
  reverted: { title: "Taken back", tone: "warn", icon: "refresh" },
};

/** How a stage is shown; one that is not known yet is shown as it is called. */
export function lookOf(stage: string): Look {
  return LOOKS[stage] ?? { title: stage, tone: "plain", icon: "circle" };
}

const OPEN = ["waiting", "checking", "mending", "proposed", "pushing"];

/** Whether it is still to land. */
export function isOpen({ stage }: Pick<Landing, "stage">): boolean {
  return OPEN.includes(stage);
}

const TROUBLES: Record<string, string> = {
  conflict: "It conflicts with the branch",
  gate: "A gate failed on the merged files",
  changed: "Its branch changed after it was allowed",
  after: "What runs after a landing failed, so it was taken back",
  closed: "Its pull request was closed without a merge",
  git: "Git refuses it",
};

/** Why something did not land, in a few words. */
export function troubleOf({ trouble }: Pick<Landing, "trouble">): string | undefined {
  return trouble == null ? undefined : (TROUBLES[trouble] ?? trouble);
}

/** Neighbours that are judged together, and single ones. */
export interface Group {
  batch: string | undefined;
  landings: Landing[];
}

/** Puts neighbours of one batch together, so that a train and its halves can be seen. */
export function groupsOf(landings: readonly Landing[]): Group[] {
  const groups: Group[] = [];
  for (const landing of landings) {
    const last = groups.at(-1);
    const batch = landing.batch ?? undefined;
    if (last && batch !== undefined && last.batch === batch) last.landings.push(landing);
    else groups.push({ batch, landings: [landing] });
  }
  return groups;
}

/** Why a verb makes no sense for an entry now. */
export function whyNot(verb: Verb, landing: Landing): string | undefined {
  const { bead, stage } = landing;
  const said = lookOf(stage).title.toLowerCase();
  if (verb === "remove") {
    if (stage === "pushing") return `${bead} is in the branch already.`;
    return isOpen(landing) ? undefined : `${bead} is not in the queue.`;
  }
  if (verb === "revert") return landing.landed ? undefined : `${bead} is not in the branch.`;
  const canRetry = ["failed", "removed", "reverted"].includes(stage);
  return canRetry ? undefined : `${bead} needs no other try; it is ${said}.`;
}

/** What can be done with an entry. */
export type Verb = "retry" | "remove" | "revert";
