import type { Bead } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Disclosure } from "../../../ui/Disclosure";
import { useDraft } from "../../../ui/useDraft";
import { MAY_CHANGE } from "../actions";
import { useMoveBeads } from "../changes";
import { RESOLUTIONS } from "../looks";
import { useForeign } from "../useForeign";
import styles from "./BeadPanel.module.css";

/** Closes what has no code to land: with a sentence that says why. */
export function CloseForm({ bead }: { bead: Bead }) {
  const name = `bead.${bead.id}.close`;
  const [reason, setReason, clear] = useDraft(name);
  const move = useMoveBeads();
  const isEmpty = reason.trim() === "";
  const foreign = useForeign();
  const refused =
    foreign([bead]) ?? (isEmpty ? "Write a sentence that says why first." : undefined);
  const close = (resolution: string) => {
    const draft = { name, text: reason };
    move.mutate({ beads: [bead], status: "done", resolution, reason: reason.trim(), draft });
    clear();
  };
  return (
    <Disclosure label="Close it with a sentence">
      <div className={styles.section}>
        <input
          className={styles.field}
          aria-label="Why it is closed"
          placeholder="Why there is nothing left to do"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <div className={styles.acts}>
          {RESOLUTIONS.map(([id, title]) => (
            <Guarded
              key={id}
              size="small"
              side="above"
              can={MAY_CHANGE}
              refused={refused}
              cli={`godel bead close ${bead.id} --resolution ${id} --reason "..."`}
              onClick={() => close(id)}
            >
              {title}
            </Guarded>
          ))}
        </div>
      </div>
    </Disclosure>
  );
}
