import { plural } from "./format";
import { Icon } from "./Icon";
import styles from "./NewRows.module.css";

/** "12 new agents": what waits because somebody is reading. */
export function NewRows({
  waiting,
  noun,
  onShow,
}: {
  waiting: number;
  noun: string;
  onShow: () => void;
}) {
  if (waiting === 0) return null;
  return (
    <div className={styles.place}>
      <button type="button" className={styles.fresh} onClick={onShow}>
        <Icon name="up" size={14} />
        {plural(waiting, `new ${noun}`)}
      </button>
    </div>
  );
}
