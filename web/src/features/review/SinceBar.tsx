import { keysOf } from "../../actions/keymap";
import { Guarded } from "../../roles/Guarded";
import { KeyCaps } from "../../ui/KeyCaps";
import { REVIEW } from "./actions";
import styles from "./DiffPane.module.css";
import type { Offer } from "./useSince";

/** Above the change, once there was a round: shows what is new since then and nothing else. */
export function SinceBar({ offer }: { offer: Offer }) {
  const { title, note, isOn, refused, toggle } = offer;
  return (
    <p className={styles.since} data-since={isOn || undefined}>
      <Guarded size="small" aria-pressed={isOn} refused={refused} onClick={toggle}>
        {title} <KeyCaps keys={keysOf(REVIEW.since)[0] ?? ""} />
      </Guarded>
      <span role="status">{refused === undefined && note}</span>
    </p>
  );
}
