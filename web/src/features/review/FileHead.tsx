import { memo, useId } from "react";
import { keysOf } from "../../actions/keymap";
import type { ReviewFile } from "../../api/types";
import { Button } from "../../ui/Button";
import { classes } from "../../ui/classes";
import { bytes } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Badge } from "../../ui/Status";
import { REVIEW } from "./actions";
import { cliFor, useDesk } from "./deskContext";
import styles from "./FileHead.module.css";
import { Size } from "./ReviewQueue";

interface FileHeadProps {
  file: ReviewFile;
  isFolded: boolean;
  isViewed: boolean;
  /** How many decisions were about something that is another now. */
  changed: number;
}

const STATUS: Record<string, string> = {
  added: "New",
  deleted: "Deleted",
  renamed: "Renamed",
  copied: "Copied",
  mode_changed: "Mode",
  type_changed: "Type",
};

/** The head of a file; it stays in sight while its lines are read. */
export const FileHead = memo(function FileHead(props: FileHeadProps) {
  const { file, isFolded, isViewed, changed } = props;
  const desk = useDesk();
  const id = useId();
  const isMoved = file.oldPath != null && file.oldPath !== file.path;
  return (
    <header className={classes(styles.head, isFolded && styles.folded)}>
      <Button
        look="quiet"
        size="small"
        isIcon
        aria-label={`${isFolded ? "Show" : "Fold"} ${file.path}`}
        aria-expanded={!isFolded}
        onClick={() => desk.fold(file, !isFolded)}
      >
        <span className={classes(styles.arrow, !isFolded && styles.open)}>
          <Icon name="chevron" size={13} />
        </span>
      </Button>
      <h3 className={styles.path}>
        {isMoved && (
          <>
            <bdi className={styles.old}>{file.oldPath}</bdi>
            <span> → </span>
          </>
        )}
        <bdi>{file.path}</bdi>
      </h3>
      <span className={styles.facts}>
        {STATUS[file.status] && <Badge>{STATUS[file.status]}</Badge>}
        {modeOf(file) && <Badge>{modeOf(file)}</Badge>}
        {file.binary && <Badge>Binary{sizeOf(file)}</Badge>}
        {file.generated && <Badge title="A program wrote it">Generated</Badge>}
        {changed > 0 && (
          <Badge tone="warn" icon="alert">
            Changed since you decided
          </Badge>
        )}
        <Size row={file} />
      </span>
      <label htmlFor={id} className={styles.viewed}>
        <input
          id={id}
          type="checkbox"
          checked={isViewed}
          aria-label={`${file.path} was viewed`}
          onChange={(event) => desk.setViewed(file, event.target.checked)}
        />
        Viewed
      </label>
      <Menu
        label={`Decide about ${file.path}`}
        size="small"
        items={(["accept", "reject"] as const).map((verb) => ({
          id: verb,
          title: verb === "accept" ? "Accept the file" : "Reject the file",
          icon: verb === "accept" ? "check" : "cross",
          keys: keysOf(verb === "accept" ? REVIEW.acceptFile : REVIEW.rejectFile)[0],
          cli: cliFor(verb, desk.bead, file.path),
          can: "review:update:own" as const,
          run: () => desk.decideFile(verb === "accept" ? "accepted" : "rejected", file),
        }))}
      />
    </header>
  );
});

/** `644 → 755`, if the mode is another. */
function modeOf({ old, new: now }: ReviewFile): string | undefined {
  if (!old || !now || old.mode === now.mode) return undefined;
  return `${old.mode.slice(-3)} → ${now.mode.slice(-3)}`;
}

function sizeOf({ old, new: now }: ReviewFile): string {
  const sizes = [old?.size, now?.size].filter((size) => size != null);
  return sizes.length === 0 ? "" : `, ${sizes.map(bytes).join(" → ")}`;
}
