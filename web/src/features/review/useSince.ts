import { useEffect, useMemo } from "react";
import { useAction } from "../../actions/actions";
import type { Review, ReviewDiff, ReviewFile } from "../../api/types";
import { useParam } from "../../router/router";
import { plural } from "../../ui/format";
import { REVIEW } from "./actions";
import { type Earlier, earlierOf, keepLook, readSeen, wasThere } from "./rounds";
import { partKeys } from "./rows";

/** What of a change is shown: all of it, or only what is new since the last round. */
export interface Since {
  /** The files to show; of those with something new all parts are there. */
  diff: ReviewDiff;
  /** Whether a part was there already and is not wanted; nothing is while all is shown. */
  isOld: (key: string) => boolean;
  /** The switch, if there was a round or an earlier look. */
  offer: Offer | undefined;
}

export interface Offer {
  title: string;
  /** How much is new. */
  note: string;
  isOn: boolean;
  /** Why it makes no sense. */
  refused: string | undefined;
  toggle: () => void;
}

const NONE = () => false;
const UNKNOWN = "This browser has not seen the change as it was then, so it cannot tell.";

/** Lets the reader see only what an agent pushed since the last round; the address holds it. */
export function useSince(review: Review, diff: ReviewDiff): Since {
  const { bead, rounds } = review;
  const [param, setParam] = useParam("since");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is remembered is another after a round and a push
  const seen = useMemo(() => readSeen(bead), [bead, rounds, diff.head]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a commit has stays the same, decide who will
  useEffect(() => keepLook(bead, diff), [bead, diff.head]);
  const earlier = useMemo(() => earlierOf(seen, review, diff.head), [seen, review, diff.head]);
  const counts = useMemo(() => earlier && countNew(diff.files, earlier), [diff.files, earlier]);
  const refused = whyNot(earlier, counts);
  const isOn = param === "round" && refused === undefined;
  const toggle = () => setParam(param === "round" ? undefined : "round");
  const isOffered = earlier !== undefined || rounds > 0;
  const title = `Only what is new since ${earlier?.since ?? `round ${rounds}`}`;
  useAction(REVIEW.since, toggle, { title, when: isOffered, disabled: refused });
  const shown = useMemo(
    () => (isOn && earlier ? { ...diff, files: withNews(diff.files, earlier) } : diff),
    [diff, isOn, earlier],
  );
  const isOld = useMemo(
    () => (isOn && earlier ? (key: string) => wasThere(earlier, key) : NONE),
    [isOn, earlier],
  );
  const note = counts ? `${counts.fresh} of ${plural(counts.all, "part")} new` : "";
  return {
    diff: shown,
    isOld,
    offer: isOffered ? { title, note, isOn, refused, toggle } : undefined,
  };
}

interface Counts {
  fresh: number;
  all: number;
}

function countNew(files: readonly ReviewFile[], earlier: Earlier): Counts {
  const keys = partKeys(files);
  return { fresh: keys.filter((key) => !wasThere(earlier, key)).length, all: keys.length };
}

function withNews(files: readonly ReviewFile[], earlier: Earlier): ReviewFile[] {
  return files.filter((file) => partKeys([file]).some((key) => !wasThere(earlier, key)));
}

function whyNot(earlier: Earlier | undefined, counts: Counts | undefined): string | undefined {
  if (!earlier || !counts) return UNKNOWN;
  return counts.fresh === 0 ? `Nothing is new since ${earlier.since}.` : undefined;
}
