import { memo } from "react";
import { keysOf } from "../../actions/keymap";
import type { ReviewFile } from "../../api/types";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { REVIEW } from "./actions";
import { useDesk } from "./deskContext";
import styles from "./ExpandBar.module.css";
import { STEP, type Way } from "./expand";

interface ExpandBarProps {
  file: ReviewFile;
  /** 0 is above the first hunk. */
  at: number;
  /** How many lines are not shown; nothing if nobody knows. */
  hidden: number | undefined;
}

/** Where lines are left out: shows some of them, or all. */
export const ExpandBar = memo(function ExpandBar({ file, at, hidden }: ExpandBarProps) {
  const desk = useDesk();
  const isLong = hidden === undefined || hidden > STEP;
  const act = (way: Way) => (event: React.MouseEvent<HTMLButtonElement>) => {
    // The bar goes with its last line; who came by keyboard stays in the diff.
    if (way === "all" || !isLong) {
      event.currentTarget.closest<HTMLElement>("[data-diff]")?.focus({ preventScroll: true });
    }
    desk.expand(file, at, way);
  };
  const where = at === 0 ? "above hunk 1" : `below hunk ${at}`;
  return (
    <div className={styles.bar} data-expand={`${file.path}:${at}`}>
      <span className={styles.words}>
        {hidden === undefined
          ? "There may be more lines"
          : `${plural(hidden, "line")} ${hidden === 1 ? "is" : "are"} not shown`}
      </span>
      {isLong && at > 0 && (
        <button
          type="button"
          aria-label={`Show ${STEP} lines below hunk ${at} of ${file.path}`}
          title={keysOf(REVIEW.expandDown)[0]}
          onClick={act("down")}
        >
          <Icon name="down" size={13} /> {STEP} down
        </button>
      )}
      {isLong && at < file.hunks.length && (
        <button
          type="button"
          aria-label={`Show ${STEP} lines above hunk ${at + 1} of ${file.path}`}
          title={keysOf(REVIEW.expandUp)[0]}
          onClick={act("up")}
        >
          <Icon name="up" size={13} /> {STEP} up
        </button>
      )}
      <button
        type="button"
        aria-label={`Show all lines ${where} of ${file.path}`}
        title={keysOf(REVIEW.expandAll)[0]}
        onClick={act("all")}
      >
        <Icon name="menu" size={13} /> All
      </button>
    </div>
  );
});
