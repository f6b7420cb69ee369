import { memo } from "react";
import { CREATE } from "../../actions/common";
import { keysOf } from "../../actions/keymap";
import type { ReviewDecision, ReviewFile, ReviewHunk } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { classes } from "../../ui/classes";
import { Icon, type IconName } from "../../ui/Icon";
import { KeyCaps } from "../../ui/KeyCaps";
import { Badge } from "../../ui/Status";
import { REVIEW } from "./actions";
import { countLines, type Decided } from "./decided";
import { type Chosen, cliFor, partName, useDesk } from "./deskContext";
import styles from "./HunkBar.module.css";
import { spotOf } from "./lines";
import { Standing } from "./Standing";

interface HunkBarProps {
  file: ReviewFile;
  hunk: ReviewHunk;
  isHere: boolean;
  /** It was there before the last round, and its lines are left out. */
  isOld: boolean;
  chosen: Chosen | undefined;
  decision: ReviewDecision | undefined;
  decided: Decided | undefined;
}

const CAN = "review:update:own";

/** The head of a hunk: where it is, how it stands, what can be said about it. */
export const HunkBar = memo(function HunkBar(props: HunkBarProps) {
  const { file, hunk, isHere, isOld, chosen, decision, decided } = props;
  const desk = useDesk();
  const name = partName(file, hunk, chosen);
  const what = chosen ? linesOf(chosen) : "";
  return (
    <div
      className={classes(styles.bar, isHere && styles.here)}
      data-hunk-bar={partName(file, hunk)}
      data-standing={hunk.standing}
      data-here={isHere || undefined}
      data-old={isOld || undefined}
    >
      <button
        type="button"
        className={styles.place}
        aria-label={`Hunk ${hunk.number} of ${file.path}`}
        aria-current={isHere ? "true" : undefined}
        onClick={() => desk.point(hunk.key)}
      >
        <code className={styles.at}>
          @@ {hunk.oldStart},{hunk.oldLen} → {hunk.newStart},{hunk.newLen}
        </code>
        <code className={styles.header}>{hunk.header}</code>
      </button>
      {isOld && <Badge title="It was there before, so its lines are left out">as before</Badge>}
      <Standing standing={hunk.standing} by={decision} lines={countLines(hunk, decided)} />
      <span className={styles.acts}>
        <Act
          title={`Accept${what}`}
          icon="check"
          keys={keysOf(REVIEW.accept)[0]}
          cli={cliFor("accept", desk.bead, name)}
          isOn={hunk.standing === "accepted"}
          onClick={() => desk.decideHunk("accepted", file, hunk)}
        />
        <Act
          title={`Reject${what}`}
          icon="cross"
          keys={keysOf(REVIEW.reject)[0]}
          cli={cliFor("reject", desk.bead, name)}
          isOn={hunk.standing === "rejected"}
          onClick={() => desk.decideHunk("rejected", file, hunk)}
        />
        <Act
          title="Edit"
          icon="edit"
          keys={keysOf(REVIEW.edit)[0]}
          cli={cliFor("edit", desk.bead, `${partName(file, hunk)} -`)}
          onClick={() => desk.setEditing(hunk.key)}
        />
        <Act
          title="Comment"
          icon="message"
          keys={keysOf(CREATE)[0]}
          cli={`godel review comment ${desk.bead} TEXT --on ${file.path}:${hunk.newStart}`}
          onClick={() => desk.compose(spotOf(file, hunk, chosen))}
        />
        <Act
          title="Undo"
          isShort
          isGone={hunk.standing === "undecided" && decision === undefined}
          icon="refresh"
          cli={cliFor("undo", desk.bead)}
          onClick={() => desk.takeBack(hunk.key)}
        />
      </span>
    </div>
  );
});

function linesOf({ from, to }: Chosen): string {
  return from === to ? ` line ${from}` : ` lines ${from}–${to}`;
}

interface ActProps {
  title: string;
  icon: IconName;
  keys?: string | undefined;
  cli: string;
  isOn?: boolean;
  /** Only its sign is seen. */
  isShort?: boolean;
  /** It makes no sense now, but keeps its room: nothing moves under the pointer. */
  isGone?: boolean;
  onClick: () => void;
}

/** A small button of a bar; its key is seen where the cursor is, and has its room everywhere. */
export function Act(props: ActProps) {
  const { title, icon, keys, cli, isOn, isShort = false, isGone = false, onClick } = props;
  return (
    <Guarded
      look="quiet"
      size="small"
      className={classes(styles.act, isOn && styles.on, isGone && styles.gone)}
      isIcon={isShort}
      aria-label={isShort ? title : undefined}
      can={CAN}
      cli={cli}
      onClick={onClick}
    >
      <Icon name={icon} size={13} />
      {!isShort && title}
      {keys && (
        <span className={styles.keys} aria-hidden="true">
          <KeyCaps keys={keys} />
        </span>
      )}
    </Guarded>
  );
}

interface PartBarProps {
  file: ReviewFile;
  isHere: boolean;
  decision: ReviewDecision | undefined;
}

/** What of a file is decided as a whole: its name, its mode, or all of it. */
export const PartBar = memo(function PartBar({ file, isHere, decision }: PartBarProps) {
  const desk = useDesk();
  const key = file.key ?? "";
  const standing = file.standing ?? "undecided";
  return (
    <div
      className={classes(styles.bar, isHere && styles.here)}
      data-part={file.path}
      data-standing={standing}
      data-here={isHere || undefined}
    >
      <button
        type="button"
        className={styles.place}
        aria-current={isHere ? "true" : undefined}
        onClick={() => desk.point(key)}
      >
        <span className={styles.header}>{wholeOf(file)}</span>
      </button>
      <Standing standing={standing} by={decision} />
      <span className={styles.acts}>
        <Act
          title="Accept"
          icon="check"
          keys={keysOf(REVIEW.accept)[0]}
          cli={cliFor("accept", desk.bead, file.path)}
          isOn={standing === "accepted"}
          onClick={() => desk.decidePart("accepted", file)}
        />
        <Act
          title="Reject"
          icon="cross"
          keys={keysOf(REVIEW.reject)[0]}
          cli={cliFor("reject", desk.bead, file.path)}
          isOn={standing === "rejected"}
          onClick={() => desk.decidePart("rejected", file)}
        />
        <Act
          title="Undo"
          isShort
          isGone={standing === "undecided"}
          icon="refresh"
          cli={cliFor("undo", desk.bead)}
          onClick={() => desk.takeBack(key)}
        />
      </span>
    </div>
  );
});

/** What is decided as a whole, in words. */
export function wholeOf(file: ReviewFile): string {
  const modes =
    file.old && file.new && file.old.mode !== file.new.mode
      ? `mode ${file.old.mode} → ${file.new.mode}`
      : undefined;
  if (file.entire) return ["All of the file", modes].filter(Boolean).join(", ");
  const name = file.oldPath != null && file.oldPath !== file.path ? "The new name" : undefined;
  return [name, modes].filter(Boolean).join(", ") || "The file itself";
}
