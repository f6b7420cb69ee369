import { isMac, keyCaps } from "../actions/keys";
import styles from "./KeyCaps.module.css";

/** A key or a sequence of keys, drawn as keys. */
export function KeyCaps({ keys }: { keys: string }) {
  let at = 0;
  return (
    <span className={styles.caps}>
      {keyCaps(keys, isMac()).map((cap) => {
        at += 1;
        return <kbd key={`${cap}${at}`}>{cap}</kbd>;
      })}
    </span>
  );
}
