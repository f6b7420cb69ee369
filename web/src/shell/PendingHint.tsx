import { useBoundActions } from "../actions/actions";
import { keysOf } from "../actions/keymap";
import { usePendingKey } from "../actions/listener";
import { KeyCaps } from "../ui/KeyCaps";
import styles from "./PendingHint.module.css";

/** After the first key of a sequence: what the second one can be. */
export function PendingHint() {
  const pending = usePendingKey();
  const bound = useBoundActions();
  if (pending === undefined) return null;
  const next = bound.flatMap(({ spec, title }) =>
    keysOf(spec)
      .filter((key) => key.startsWith(`${pending} `))
      .map((key) => ({
        id: spec.id,
        key: key.slice(pending.length + 1),
        title: title ?? spec.title,
      })),
  );
  return (
    <div className={styles.hint} role="status" aria-label={`${pending}, then`}>
      <KeyCaps keys={pending} />
      <ul className={styles.list}>
        {next.map(({ id, key, title }) => (
          <li key={id}>
            <KeyCaps keys={key} />
            {title}
          </li>
        ))}
      </ul>
    </div>
  );
}
