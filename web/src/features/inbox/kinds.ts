import type { Notice } from "../../api/types";
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
      [kind, `${title}s`, notices.filter((notice) => notice.kind === kind).length] as const,
  );
  return [all, ...each.filter(([, , many]) => many > 0)];
}

/** Whether somebody listens to an answer; a failed agent does not. */
export function isAsking({ kind }: Pick<Notice, "kind">): boolean {
  return kind !== "stuck" && kind !== "review";
}

/** Whether its agent can begin anew. */
export function canRestart({ kind, agentId }: Pick<Notice, "kind" | "agentId">): boolean {
  return kind === "stuck" && Boolean(agentId);
}
