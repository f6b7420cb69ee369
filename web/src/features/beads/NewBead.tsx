import { useState } from "react";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { words } from "../../ui/format";
import { Select } from "../../ui/PageHead";
import { useDraft } from "../../ui/useDraft";
import { MAY_CREATE } from "./actions";
import styles from "./BeadTable.module.css";
import { useCreateBeads } from "./changes";
import { PRIORITIES, PRIORITY_LOOKS, TYPES } from "./looks";
import panel from "./panel/BeadPanel.module.css";

/** Asks what is to be done. */
export function NewBead({
  project,
  onClose,
}: {
  project: string | undefined;
  onClose: () => void;
}) {
  const [title, setTitle, clearTitle] = useDraft("bead.new.title");
  const [text, setText, clearText] = useDraft("bead.new.description");
  const [type, setType] = useState("task");
  const [priority, setPriority] = useState("medium");
  const create = useCreateBeads();
  const name = title.trim();
  const make = () => {
    if (name === "") return;
    const description = text.trim();
    const fields = { type, priority, ...(description !== "" && { description }) };
    create.mutate({ titles: [name], project, fields });
    clearTitle();
    clearText();
    onClose();
  };
  return (
    <Dialog title="New bead" onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <TextField
          label="What is to be done"
          value={title}
          autoFocus
          onChange={(event) => setTitle(event.target.value)}
        />
        <textarea
          className={panel.area}
          aria-label="Description"
          placeholder="At length, in Markdown; - [ ] makes a box to tick"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className={styles.pair}>
          <Select
            label="Type"
            value={type}
            onChange={setType}
            options={TYPES.map((one) => [one, words(one)] as const)}
          />
          <Select
            label="Priority"
            value={priority}
            onChange={setPriority}
            options={PRIORITIES.map((one) => [one, PRIORITY_LOOKS[one].title] as const)}
          />
        </div>
        <Cli
          command={`godel bead create "${name || "Title"}" --type ${type} --priority ${priority}`}
        />
        <Acts isEmpty={name === ""} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function Acts({ isEmpty, onClose }: { isEmpty: boolean; onClose: () => void }) {
  return (
    <div className={styles.acts}>
      <Button onClick={onClose}>Cancel</Button>
      <Guarded
        look="solid"
        type="submit"
        side="above"
        can={MAY_CREATE}
        refused={isEmpty ? "Say what is to be done first." : undefined}
      >
        Create
      </Guarded>
    </div>
  );
}
