import styles from "./Board.module.css";
import type { Drag } from "./useBoardDrag";

/** What follows the pointer while cards are moved. */
export function Ghost({ drag }: { drag: Drag }) {
  const { cards, point } = drag;
  if (!point) return null;
  return (
    <div
      className={styles.ghost}
      style={{ transform: `translate(${point.x + 8}px, ${point.y + 8}px)` }}
      aria-hidden="true"
    >
      {cards[0]?.title}
      {cards.length > 1 && <span className={styles.count}>{cards.length}</span>}
    </div>
  );
}
