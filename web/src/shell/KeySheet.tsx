import { type Binding, useBoundActions } from "../actions/actions";
import { keysOf } from "../actions/keymap";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { KeyCaps } from "../ui/KeyCaps";
import styles from "./KeySheet.module.css";

/** All keys that work now, by where they work. */
export function KeySheet({ onClose }: { onClose: () => void }) {
  const bound = useBoundActions().filter(({ spec }) => keysOf(spec).length > 0);
  const groups = Map.groupBy(bound, groupOf);
  return (
    <Dialog title="Keys" onClose={onClose} isWide>
      <div className={styles.groups}>
        {[...groups].map(([group, bindings]) => (
          <section key={group} aria-label={group}>
            <h3 className={styles.head}>{group}</h3>
            <dl className={styles.keys}>
              {bindings.map(({ spec, title }) => (
                <div key={spec.id} className={styles.line} data-action={spec.id}>
                  <dt>{title ?? spec.title}</dt>
                  <dd>
                    {keysOf(spec).map((keys) => (
                      <KeyCaps key={keys} keys={keys} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className={styles.foot}>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function groupOf({ spec }: Binding): string {
  if (spec.id.startsWith("go.")) return "Go to";
  if (spec.scope === "global") return "Everywhere";
  return spec.scope === "list" ? "In a list" : "On this page";
}
