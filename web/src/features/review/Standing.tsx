import type { ReviewDecision } from "../../api/types";
import type { IconName } from "../../ui/Icon";
import { Badge, type Tone } from "../../ui/Status";
import { Time } from "../../ui/Time";
import styles from "./HunkBar.module.css";

const LOOKS: Record<string, { title: string; tone: Tone; icon: IconName }> = {
  accepted: { title: "Accepted", tone: "ok", icon: "check" },
  rejected: { title: "Rejected", tone: "bad", icon: "cross" },
  mixed: { title: "Some lines rejected", tone: "warn", icon: "alert" },
  edited: { title: "Edited", tone: "info", icon: "edit" },
};

/** How a part stands, and who said so. */
export function Standing({ standing, by }: { standing: string; by: ReviewDecision | undefined }) {
  const look = LOOKS[standing];
  // What is undecided is what a reader comes for; it needs no mark.
  if (!look) return null;
  return (
    <>
      <Badge tone={look.tone} icon={look.icon}>
        {look.title}
      </Badge>
      {by && (
        <span className={styles.by}>
          {by.by.replace(/^user:/, "")}, <Time at={by.at} />
        </span>
      )}
    </>
  );
}
