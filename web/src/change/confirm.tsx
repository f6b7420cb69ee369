import { useState, useSyncExternalStore } from "react";
import { useIsOnline } from "../realtime/live";
import { Button } from "../ui/Button";
import { Cli } from "../ui/Cli";
import { Dialog } from "../ui/Dialog";
import { TextField } from "../ui/Field";
import styles from "./confirm.module.css";

/** A question before something that cannot be taken back. */
export interface Question {
  title: string;
  /** What will be gone. */
  body: string;
  /** What must be typed, such as the name of the team; for what is irreversible only. */
  word?: string;
  /** What the button says: `Delete the team`. */
  act: string;
  cli?: string;
}

let asked: { question: Question; answer: (yes: boolean) => void } | undefined;
const listeners = new Set<() => void>();

/** Asks, and tells whether the answer was yes. */
export function confirm(question: Question): Promise<boolean> {
  asked?.answer(false);
  return new Promise((resolve) => {
    asked = {
      question,
      answer: (yes) => {
        asked = undefined;
        changed();
        resolve(yes);
      },
    };
    changed();
  });
}

function changed(): void {
  for (const tell of listeners) tell();
}

/** Shows the question; the shell has one. */
export function ConfirmHost() {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  if (!current) return null;
  return <ConfirmDialog {...current} />;
}

function ConfirmDialog({ question, answer }: NonNullable<typeof asked>) {
  const [typed, setTyped] = useState("");
  const isOnline = useIsOnline();
  const { title, body, word, act, cli } = question;
  const isReady = isOnline && (word === undefined || typed.trim() === word);
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) answer(true);
        }}
      >
        <p>{body}</p>
        {word !== undefined && (
          <TextField
            label={`Type ${word} to go on`}
            value={typed}
            autoComplete="off"
            autoFocus
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        {!isOnline && <p>The connection is lost; this waits until it is back.</p>}
        {cli && <Cli command={cli} />}
        <div className={styles.acts}>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button look="bad" type="submit" disabled={!isReady}>
            {act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
