import type { Convoy } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { useFields } from "../../ui/form/form";
import { shellWord } from "../../ui/format";
import panel from "../beads/panel/BeadPanel.module.css";
import styles from "./Board.module.css";
import { useEditConvoy } from "./queries";
import { MAY_CHANGE_CONVOY } from "./useConvoyItems";

/** Asks for another name of a convoy, and what it is about. */
export function EditConvoy({ convoy, onClose }: { convoy: Convoy; onClose: () => void }) {
  const { values, set, discard, written } = useFields(`convoy.${convoy.id}`, {
    name: convoy.name,
    description: convoy.description ?? "",
  });
  const edit = useEditConvoy(convoy);
  const words = { name: values.name.trim(), description: values.description.trim() };
  const isSame = words.name === convoy.name && words.description === (convoy.description ?? "");
  const save = () => {
    if (words.name === "") return;
    if (!isSame) edit.mutate({ ...words, draft: written });
    discard();
    onClose();
  };
  const said = [
    `godel convoy update ${convoy.id}`,
    words.name !== convoy.name && `--name ${shellWord(words.name)}`,
    words.description !== (convoy.description ?? "") &&
      `--description ${shellWord(words.description)}`,
  ];
  return (
    <Dialog title={`Rename or describe ${convoy.name}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <TextField
          label="Name"
          value={values.name}
          autoFocus
          onChange={(event) => set("name", event.target.value)}
        />
        <textarea
          className={panel.area}
          aria-label="What it is about"
          placeholder="What it is about"
          value={values.description}
          onChange={(event) => set("description", event.target.value)}
        />
        <Cli command={said.filter(Boolean).join(" ")} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded
            look="solid"
            type="submit"
            side="above"
            can={MAY_CHANGE_CONVOY}
            refused={words.name === "" ? "Give it a name first." : undefined}
          >
            Save
          </Guarded>
        </div>
      </form>
    </Dialog>
  );
}
