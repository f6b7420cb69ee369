import type { Notice } from "../../api/types";
import type { Need } from "../../roles/permissions";
import type { IconName } from "../../ui/Icon";
import type { Tone } from "../../ui/Status";

interface KindLook {
  title: string;
  tone: Tone;
  icon: IconName;
  /** What `n` and the last button do: nothing is answered. */
  aside: string;
}

const KINDS: Record<string, KindLook> = {
  question: { title: "Question", tone: "warn", icon: "hand", aside: "Let it decide" },
  stuck: { title: "Failure", tone: "bad", icon: "alert", aside: "Put aside" },
  budget: { title: "Budget", tone: "warn", icon: "costs", aside: "Put aside" },
  review: { title: "Review", tone: "info", icon: "review", aside: "Put aside" },
  approval: { title: "Approval", tone: "warn", icon: "hand", aside: "Put aside" },
  dead_letters: { title: "Dead letters", tone: "bad", icon: "alert", aside: "Put aside" },
};

/** How a kind of notice looks; one that a newer server has is a question. */
export function kindOf(notice: Pick<Notice, "kind">): KindLook {
  return KINDS[notice.kind] ?? (KINDS.question as KindLook);
}

const YES = /^(y|yes|ok|okay|allow|approve|approved|accept|go on|continue|confirm)\b/i;
const NO = /^(n|no|deny|reject|decline|refuse|stop|cancel|don't|do not)\b/i;

/** The choice that means yes, if one does: `y` must never guess between red and blue. */
export function yesOf({ choices }: Pick<Notice, "choices">): string | undefined {
  return choices.find((choice) => YES.test(choice.trim()));
}

/** The choice that means no. */
export function noOf({ choices }: Pick<Notice, "choices">): string | undefined {
  return choices.find((choice) => NO.test(choice.trim()));
}

/** The kinds that there are, with how many each has; all first. */
export function countKinds(notices: readonly Notice[]): (readonly [string, string, number])[] {
  const all = ["", "All", notices.length] as const;
  const each = Object.entries(KINDS).map(
    ([kind, { title }]) =>
      [
        kind,
        title.endsWith("s") ? title : `${title}s`,
        notices.filter((notice) => notice.kind === kind).length,
      ] as const,
  );
  return [all, ...each.filter(([, , many]) => many > 0)];
}

/** Whether somebody listens to an answer in words; a failed agent does not, nor does a limit. */
export function isAsking({ kind, agent }: Pick<Notice, "kind" | "agent">): boolean {
  return kind !== "stuck" && kind !== "review" && Boolean(agent);
}

/** Whether it is over only by a yes or a no: then nothing puts it aside. */
export function needsVerdict({ kind }: Pick<Notice, "kind">): boolean {
  return kind === "approval";
}

/** What answering it takes, or putting it aside: what is no agent's is there for all, and goes for all. */
export function rightFor(notice: Pick<Notice, "kind" | "agentId">): Need {
  if (needsVerdict(notice)) return "workflow:execute:own";
  return notice.agentId ? "agent:execute:own" : "agent:execute:team";
}

/** Whose it is, in a word or two; undefined where nothing says so. */
export function whose(
  notice: Pick<Notice, "agent" | "workflow" | "step" | "pool">,
): string | undefined {
  if (notice.agent) return notice.agent;
  if (notice.workflow) return `${notice.workflow}, ${notice.step}`;
  return notice.pool ? `pool ${notice.pool}` : undefined;
}

/** Where there is more about it. */
export function placeOf(
  notice: Pick<Notice, "agentId" | "runId" | "budgetId" | "pool">,
): string | undefined {
  if (notice.agentId) return `/agents/${encodeURIComponent(notice.agentId)}`;
  if (notice.runId) return `/queue/runs/${encodeURIComponent(notice.runId)}`;
  if (notice.budgetId) return `/costs?tab=budgets&budget=${encodeURIComponent(notice.budgetId)}`;
  return notice.pool ? `/queue?tab=dead&pool=${encodeURIComponent(notice.pool)}` : undefined;
}

/** Whether its agent can begin anew. */
export function canRestart({ kind, agentId }: Pick<Notice, "kind" | "agentId">): boolean {
  return kind === "stuck" && Boolean(agentId);
}
