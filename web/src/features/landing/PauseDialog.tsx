import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import styles from "../../ui/DialogForm.module.css";
import { TextField } from "../../ui/Field";
import { shellWord } from "../../ui/format";
import { useDraft } from "../../ui/useDraft";

interface PauseDialogProps {
  name: string;
  onClose: () => void;
  onPause: (reason: string) => void;
}

/** The same on the command line. */
export function pauseCli(name: string, reason: string): string {
  return `godel land pause --project ${shellWord(name)} --reason ${shellWord(reason || "...")}`;
}

/** Asks why a queue is to stand still, for those who come later. */
export function PauseDialog({ name, onClose, onPause }: PauseDialogProps) {
  const [reason, setReason, clear] = useDraft(`landing.pause.${name}`);
  return (
    <Dialog title={`Pause the queue of ${name}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          clear();
          onPause(reason.trim());
        }}
      >
        <p>Nothing lands until somebody resumes it; everything keeps its place.</p>
        <TextField
          label="Why, for those who come later"
          value={reason}
          autoFocus
          onChange={(event) => setReason(event.target.value)}
        />
        <Cli command={pauseCli(name, reason.trim())} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="solid" type="submit">
            Pause
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
