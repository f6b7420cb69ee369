import type { ReviewDecision } from "../../api/types";
import { count, plural } from "../../ui/format";
import type { IconName } from "../../ui/Icon";
import { Badge, type Tone } from "../../ui/Status";
import { Time } from "../../ui/Time";
import type { LineCount } from "./decided";
import styles from "./HunkBar.module.css";

interface Look {
  title: string;
  tone: Tone;
  icon: IconName;
}

const LOOKS: Record<string, Look> = {
  accepted: { title: "Accepted", tone: "ok", icon: "check" },
  rejected: { title: "Rejected", tone: "bad", icon: "cross" },
  mixed: { title: "Some lines rejected", tone: "warn", icon: "alert" },
  edited: { title: "Edited", tone: "info", icon: "edit" },
};

/** An undecided hunk of which some lines were accepted, and no other was rejected. */
const BEGUN: Look = { title: "Some lines accepted", tone: "info", icon: "check" };

interface StandingProps {
  standing: string;
  by: ReviewDecision | undefined;
  /** The lines of a hunk; a file as a whole has none. */
  lines?: LineCount;
}

/** How a part stands, and who said so. */
export function Standing({ standing, by, lines }: StandingProps) {
  const isBegun = standing === "undecided" && lines !== undefined && lines.accepted > 0;
  const look = isBegun ? BEGUN : LOOKS[standing];
  // What is undecided is what a reader comes for; it needs no mark.
  if (!look) return null;
  const isPartly = isBegun || standing === "mixed";
  return (
    <>
      <Badge tone={look.tone} icon={look.icon}>
        {look.title}
      </Badge>
      {isPartly && lines && <span className={styles.count}>{wordsOf(lines)}</span>}
      {by && (
        <span className={styles.by}>
          {by.by.replace(/^user:/, "")}, <Time at={by.at} />
        </span>
      )}
    </>
  );
}

/** `3 of 7 lines decided`. */
function wordsOf({ accepted, rejected, total }: LineCount): string {
  return `${count(accepted + rejected)} of ${plural(total, "line")} decided`;
}
