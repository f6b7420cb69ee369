import { useState } from "react";
import type { Bead } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Disclosure } from "../../../ui/Disclosure";
import { shellWord } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { MAY_CHANGE } from "../actions";
import { useEditBeads } from "../changes";
import { metadataText } from "../fields";
import { useForeign } from "../useForeign";
import styles from "./BeadPanel.module.css";
import { EditableFact } from "./EditableFact";
import own from "./EditableFact.module.css";

/** What others keep with a bead, name by name: changed, added and taken away. */
export function Metadata({ bead }: { bead: Bead }) {
  const edit = useEditBeads();
  const foreign = useForeign()([bead]);
  const forget = (key: string) =>
    edit.mutate({ beads: [bead], change: { metadata: { [key]: null } }, what: "the metadata" });
  const keys = Object.keys(bead.metadata).toSorted();
  return (
    <section className={styles.section} aria-label="Metadata">
      <h3>Metadata</h3>
      {keys.length > 0 && (
        <dl className={own.facts}>
          {keys.map((key) => (
            <EditableFact
              key={key}
              bead={bead}
              name={key}
              text={metadataText(bead.metadata[key])}
              placeholder="Its value"
              changeOf={(text) => ({ metadata: { [key]: text === "" ? null : text } })}
              cli={`godel bead update ${bead.id} --metadata ${shellWord(`${key}=...`)}`}
              tools={
                <Guarded
                  look="quiet"
                  size="small"
                  isIcon
                  can={MAY_CHANGE}
                  refused={foreign}
                  cli={`godel bead update ${bead.id} --metadata ${shellWord(`${key}=`)}`}
                  aria-label={`Remove ${key}`}
                  onClick={() => forget(key)}
                >
                  <Icon name="cross" size={13} />
                </Guarded>
              }
            />
          ))}
        </dl>
      )}
      <Disclosure label="Keep something with it">
        <AddMember bead={bead} foreign={foreign} />
      </Disclosure>
    </section>
  );
}

function AddMember({ bead, foreign }: { bead: Bead; foreign: string | undefined }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const edit = useEditBeads();
  const name = key.trim();
  const isEmpty = name === "" || value.trim() === "";
  const refused = foreign ?? (isEmpty ? "Write a name and a value first." : undefined);
  const add = () => {
    if (refused !== undefined) return;
    const change = { metadata: { [name]: value.trim() } };
    edit.mutate({ beads: [bead], change, what: "the metadata" });
    setKey("");
    setValue("");
  };
  return (
    <form
      className={own.pair}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <input
        className={own.input}
        aria-label="Name of what is kept"
        placeholder="ticket"
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <input
        className={own.input}
        aria-label="Its value"
        placeholder="417"
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
      <Guarded
        size="small"
        side="above"
        align="end"
        type="submit"
        can={MAY_CHANGE}
        refused={refused}
        cli={`godel bead update ${bead.id} --metadata ${shellWord(`${name || "KEY"}=${value.trim() || "VALUE"}`)}`}
      >
        Keep
      </Guarded>
    </form>
  );
}
