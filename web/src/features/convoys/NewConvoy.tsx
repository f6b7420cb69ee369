import type { Bead } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { plural, shellWord } from "../../ui/format";
import { useDraft } from "../../ui/useDraft";
import { useProject } from "../projects/queries";
import styles from "./Board.module.css";
import { useCreateConvoy } from "./queries";

const DRAFT = "convoy.new";

/** The same on the command line. */
export function createCli(name: string, beads: readonly string[]): string {
  return ["godel convoy create", shellWord(name || "Name"), ...beads].join(" ");
}

/** Asks for the name of a convoy, and makes it of beads. */
export function NewConvoy({ beads, onClose }: { beads: readonly Bead[]; onClose: () => void }) {
  const [name, setName, clear] = useDraft(DRAFT);
  const { projectId } = useProject();
  const create = useCreateConvoy();
  const ids = beads.map(({ id }) => id);
  const make = () => {
    if (name.trim() === "") return;
    create.mutate({
      name: name.trim(),
      beads: ids,
      projectId: projectId ?? beads[0]?.projectId,
      draft: { name: DRAFT, text: name },
    });
    clear();
    onClose();
  };
  return (
    <Dialog title="New convoy" onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <TextField
          label="Name"
          value={name}
          autoFocus
          onChange={(event) => setName(event.target.value)}
          note={
            beads.length > 0
              ? `${plural(beads.length, "bead")} will be in it.`
              : "It is empty at first; new beads in its lane join it."
          }
        />
        <Cli command={createCli(name.trim(), ids)} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded
            look="solid"
            type="submit"
            side="above"
            can="convoy:create:own"
            refused={name.trim() === "" ? "Give it a name first." : undefined}
          >
            Create
          </Guarded>
        </div>
      </form>
    </Dialog>
  );
}
