import { type FormEvent, useId, useSyncExternalStore } from "react";
import type { Agent } from "../../api/types";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { shellWord } from "../../ui/format";
import { useDraft } from "../../ui/useDraft";
import styles from "./MessageDialog.module.css";

let asked: { agents: readonly Agent[]; answer: (text?: string) => void } | undefined;
const listeners = new Set<() => void>();

/** The same on the command line. */
export function messageCli(label: string, text: string): string {
  return `godel agent message ${label} ${shellWord(text || "…")}`;
}

/** What a message to agents is called among the drafts. */
export function messageDraft(agents: readonly Pick<Agent, "id">[]): string {
  return `message.${agents.map(({ id }) => id).join(" ")}`;
}

/** Asks what to say; nothing if the person thinks better of it. */
export function askForMessage(agents: readonly Agent[]): Promise<string | undefined> {
  asked?.answer();
  return new Promise((resolve) => {
    const answer = (text?: string) => {
      asked = undefined;
      changed();
      resolve(text);
    };
    asked = { agents, answer };
    changed();
  });
}

function changed(): void {
  for (const tell of listeners) tell();
}

/** Shows the question; the page of agents has one. */
export function MessageHost() {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  return current ? <MessageDialog {...current} /> : null;
}

function MessageDialog({ agents, answer }: NonNullable<typeof asked>) {
  const [first] = agents;
  const whom = agents.length === 1 && first ? first.label : `${agents.length} agents`;
  const [text, setText, clear] = useDraft(messageDraft(agents));
  const id = useId();
  const said = text.trim();
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (said === "") return;
    clear();
    answer(said);
  };
  return (
    <Dialog title={`Message ${whom}`} onClose={() => answer()}>
      <form className={styles.form} onSubmit={send}>
        <label htmlFor={id}>What should it know? It reads this at its next safe point.</label>
        <textarea
          id={id}
          rows={4}
          className={styles.text}
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) send(event);
          }}
        />
        {first && <Cli command={messageCli(first.label, said)} />}
        <div className={styles.acts}>
          <Button onClick={() => answer()}>Cancel</Button>
          <Button look="solid" type="submit" disabled={said === ""}>
            Send
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
