import { memo, type PointerEvent } from "react";
import type { Bead, ReviewRow } from "../../api/types";
import { classes } from "../../ui/classes";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuItem } from "../../ui/Menu";
import { ShortId } from "../../ui/ShortId";
import { Time } from "../../ui/Time";
import { AgentMark, LockMark, PriorityMark, TypeMark } from "../beads/BeadMarks";
import { isNotYet } from "../beads/changes";
import type { Reason } from "../beads/graph";
import { gatesOf, landedSizeOf } from "../beads/looks";
import styles from "./Card.module.css";
import type { Place } from "./steps";

interface CardProps {
  bead: Bead;
  /** The lane in which this card is; the bead may be in others, too. */
  lane: string;
  holds: readonly Reason[];
  review: ReviewRow | undefined;
  menuOf: (bead: Bead) => readonly MenuItem[];
  isPeeked: boolean;
  isSelected: boolean;
  isMoving: boolean;
  /** Whether Tab stops here: one card of the board does, arrows go to the others. */
  isStop: boolean;
  onPress: (event: PointerEvent, place: Place) => void;
  onOpen: (bead: Bead, withOthers: boolean) => void;
  onFocus: (place: Place) => void;
}

/** A bead on the board. */
export const Card = memo(function Card(props: CardProps) {
  const { bead, holds, review, isStop } = props;
  const place = { lane: props.lane, id: bead.id };
  return (
    <article
      className={classes(styles.card, isNotYet(bead) && styles.notYet)}
      data-card={bead.id}
      data-peeked={props.isPeeked || undefined}
      data-selected={props.isSelected || undefined}
      data-moving={props.isMoving || undefined}
      onPointerDown={(event) => props.onPress(event, place)}
    >
      <div className={styles.top}>
        <TypeMark type={bead.type} isShort />
        <span className={styles.id}>
          <ShortId id={bead.id} isStop={false} />
        </span>
        <PriorityMark bead={bead} isShort />
        <span className={styles.gap} />
        <span className={styles.menu} data-no-drag>
          <Menu
            label={`Move ${bead.id}`}
            size="small"
            items={() => (isNotYet(bead) ? [] : props.menuOf(bead))}
          />
        </span>
      </div>
      <button
        type="button"
        className={styles.title}
        tabIndex={isStop ? 0 : -1}
        aria-describedby="board-help"
        onFocus={() => props.onFocus(place)}
        onClick={(event) => props.onOpen(bead, event.metaKey || event.ctrlKey)}
      >
        {bead.title}
        {props.isSelected && <span className="visually-hidden">, selected</span>}
      </button>
      {bead.status !== "done" && holds.length > 0 && (
        <div className={styles.marks}>
          <LockMark holds={holds} />
        </div>
      )}
      <div className={styles.foot}>
        <AgentMark agent={bead.agent} />
        {review?.commit ? <Change review={review} /> : <Landed bead={bead} />}
        <span className={styles.gap} />
        <span className={styles.age}>
          <Time at={bead.createdAt} />
        </span>
      </div>
    </article>
  );
});

/** How many lines are new and gone. */
function Lines({ added, removed }: { added: number; removed: number }) {
  return (
    <>
      <span className={styles.added}>+{added}</span>
      <span className={styles.removed}>−{removed}</span>
    </>
  );
}

/** How large the change is, and what the gates say of it. */
function Change({ review: { added, removed, gates } }: { review: ReviewRow }) {
  return (
    <span className={styles.change}>
      <Lines added={added} removed={removed} />
      {typeof gates === "boolean" && (
        <Checks passed={gates}>{gates ? "checks passed" : "checks failed"}</Checks>
      )}
    </span>
  );
}

/** How large the work was that is in its branch now, and what the gates said of it; the bead itself keeps that. */
function Landed({ bead }: { bead: Bead }) {
  const [gates, size] = [gatesOf(bead), landedSizeOf(bead)];
  if (gates.length === 0 && !size) return null;
  const failed = gates.filter(({ passed }) => !passed).length;
  return (
    <span className={styles.change}>
      {size && <Lines {...size} />}
      {gates.length > 0 && (
        <Checks passed={failed === 0}>
          {/* A gate that need not pass keeps nothing from landing. */}
          {failed === 0 ? "checks passed" : `${failed} of ${plural(gates.length, "check")} failed`}
        </Checks>
      )}
    </span>
  );
}

function Checks({ passed, children }: { passed: boolean; children: string }) {
  return (
    <span className={passed ? styles.added : styles.removed}>
      <Icon name={passed ? "check" : "cross"} size={12} />
      {children}
    </span>
  );
}
