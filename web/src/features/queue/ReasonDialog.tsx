import { useSyncExternalStore } from "react";
import type { Task } from "../../api/types";
import { useIsOnline } from "../../realtime/live";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import styles from "../../ui/DialogForm.module.css";
import { TextField } from "../../ui/Field";
import { plural } from "../../ui/format";
import { useDraft } from "../../ui/useDraft";
import { cancelCli } from "./taskCli";

let asked: { tasks: readonly Task[]; answer: (reason?: string) => void } | undefined;
const listeners = new Set<() => void>();

/** What the reason for cancelling tasks is called among the drafts. */
export function reasonDraft(tasks: readonly Pick<Task, "id">[]): string {
  return `cancel.${tasks.map(({ id }) => id).join(" ")}`;
}

/** Asks why tasks are cancelled; nothing if the person thinks better of it. */
export function askForReason(tasks: readonly Task[]): Promise<string | undefined> {
  asked?.answer();
  return new Promise((resolve) => {
    const answer = (reason?: string) => {
      asked = undefined;
      changed();
      resolve(reason);
    };
    asked = { tasks, answer };
    changed();
  });
}

function changed(): void {
  for (const tell of listeners) tell();
}

/** Shows the question; the page of the queue has one. */
export function ReasonHost() {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  return current ? <ReasonDialog {...current} /> : null;
}

function ReasonDialog({ tasks, answer }: NonNullable<typeof asked>) {
  const [text, setText, clear] = useDraft(reasonDraft(tasks));
  const isOnline = useIsOnline();
  const [first] = tasks;
  const what = tasks.length === 1 && first ? first.title : plural(tasks.length, "task");
  const reason = text.trim();
  return (
    <Dialog title={`Cancel ${what}`} onClose={() => answer()}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === "" || !isOnline) return;
          clear();
          answer(reason);
        }}
      >
        <p>All that waits for it is cancelled, too. Retrying brings it back.</p>
        <TextField
          label="Why, for those who come later"
          value={text}
          autoFocus
          onChange={(event) => setText(event.target.value)}
        />
        {!isOnline && <p>The connection is lost; this waits until it is back.</p>}
        <Cli command={cancelCli(tasks.slice(0, 1), reason)} />
        <div className={styles.acts}>
          <Button onClick={() => answer()}>Go back</Button>
          <Button look="bad" type="submit" disabled={reason === "" || !isOnline}>
            Cancel it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
