import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import styles from "../../ui/DialogForm.module.css";
import { TextField } from "../../ui/Field";
import { useDraft } from "../../ui/useDraft";
import { MAY_STOP } from "./actions";
import { stopCli } from "./queries";

/** The longest reason that is kept. */
const REASON_CHARS = 1_000;

interface EstopDialogProps {
  onClose: () => void;
  onStop: (reason: string) => void;
}

/** Asks whether everything is to stand still, and why; in an emergency nobody has to give a reason. */
export function EstopDialog({ onClose, onStop }: EstopDialogProps) {
  const [typed, setTyped, clear] = useDraft("estop");
  const reason = typed.trim();
  return (
    <Dialog title="Stop everything?" onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          clear();
          onStop(reason);
        }}
      >
        <p>
          All agents stop at once and keep their work, and nothing new begins until somebody lets it
          go on. Everybody sees that, and why.
        </p>
        <TextField
          label="Why, for those who come later"
          value={typed}
          maxLength={REASON_CHARS}
          autoComplete="off"
          autoFocus
          onChange={(event) => setTyped(event.target.value)}
        />
        <Cli command={stopCli(reason)} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded look="bad" type="submit" side="above" can={MAY_STOP} destructive>
            Stop everything
          </Guarded>
        </div>
      </form>
    </Dialog>
  );
}
