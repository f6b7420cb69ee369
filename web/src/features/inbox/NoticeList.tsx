import { memo, type RefObject } from "react";
import type { Notice } from "../../api/types";
import { FlowList } from "../../ui/table/FlowList";
import styles from "./InboxPage.module.css";
import { isAsking } from "./kinds";
import { NoticeCard } from "./NoticeCard";

interface NoticeListProps {
  notices: readonly Notice[];
  /** The one that keys are about. */
  here: Notice | undefined;
  /** The answer box of that one. */
  write: RefObject<HTMLTextAreaElement | null>;
}

/** Scrolling draws the list with each frame, but a card only when it comes into view. */
const Card = memo(NoticeCard);

const keyOf = (notice: Notice) => notice.id;

/** The notices below each other, however many; only those in view are drawn. */
export function NoticeList({ notices, here, write }: NoticeListProps) {
  return (
    <FlowList
      label="Waiting for you"
      rows={notices}
      keyOf={keyOf}
      heightOf={heightOf}
      cursor={here?.id}
      className={styles.list}
      rowClass={styles.row}
      draw={(notice) => (
        <Card
          notice={notice}
          isAt={notice.id === here?.id}
          box={notice.id === here?.id ? write : undefined}
        />
      )}
    />
  );
}

/** Its border and padding, its head, and the room below it. */
const FRAME_PX = 60;
const LINE_PX = 21;
const LINE_CHARS = 90;
/** What a line of buttons or the answer box takes, with the room above it. */
const ACTS_PX = 38;

/** About how high a card is before it was drawn. */
function heightOf(notice: Notice): number {
  const lines = notice.text
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARS)), 0);
  const text = FRAME_PX + 10 + lines * LINE_PX;
  if (notice.state !== "open") return text + 10 + LINE_PX;
  const hasChoices = notice.choices.length > 0;
  return text + (hasChoices ? ACTS_PX : 0) + (isAsking(notice) || !hasChoices ? ACTS_PX : 0);
}
