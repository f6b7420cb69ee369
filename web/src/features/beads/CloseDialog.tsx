import type { Bead } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { useFields } from "../../ui/form/form";
import { plural } from "../../ui/format";
import { MAY_CHANGE } from "./actions";
import styles from "./BeadTable.module.css";
import { useMoveBeads } from "./changes";
import { RESOLUTIONS } from "./looks";
import { useForeign } from "./useForeign";

interface CloseDialogProps {
  beads: readonly Bead[];
  onClose: () => void;
  onClosed: () => void;
}

/** Closes beads that have no code to land, with one sentence for all of them. */
export function CloseDialog({ beads, onClose, onClosed }: CloseDialogProps) {
  const { values, set, discard, written } = useFields("beads.close", {
    reason: "",
    resolution: "done",
  });
  const { reason, resolution } = values;
  const move = useMoveBeads();
  const foreign = useForeign()(beads);
  const isEmpty = reason.trim() === "";
  const refused = foreign ?? (isEmpty ? "Write a sentence that says why first." : undefined);
  const open = beads.filter(({ status }) => status !== "done");
  const close = () => {
    if (refused !== undefined) return;
    const order = { status: "done", resolution, reason: reason.trim() } as const;
    move.mutate({ beads: open, ...order, draft: written });
    discard();
    onClosed();
  };
  return (
    <Dialog title={`Close ${plural(open.length, "bead")}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          close();
        }}
      >
        <Choice
          label="As"
          value={resolution}
          options={RESOLUTIONS}
          onChange={(next) => set("resolution", next)}
          note="What has code is done when the code has landed; the server says so if it has not."
        />
        <TextField
          label="Why"
          placeholder="Why there is nothing left to do"
          value={reason}
          autoFocus
          onChange={(event) => set("reason", event.target.value)}
        />
        <Cli
          command={open
            .map(({ id }) => `godel bead close ${id} --resolution ${resolution} --reason "..."`)
            .join(" && ")}
        />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded look="solid" type="submit" side="above" can={MAY_CHANGE} refused={refused}>
            Close them
          </Guarded>
        </div>
      </form>
    </Dialog>
  );
}
