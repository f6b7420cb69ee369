import { type FormEvent, useState, useSyncExternalStore } from "react";
import type { Agent, RestartAgent } from "../../api/types";
import { useIsOnline } from "../../realtime/live";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { shellWord } from "../../ui/format";
import styles from "./MessageDialog.module.css";
import { HARNESSES } from "./spawn/form";

/** The most copies that the server makes at once. */
const MOST_COPIES = 16;

type Asked =
  | { kind: "fork"; agents: readonly Agent[]; answer: (copies?: number) => void }
  | { kind: "restart"; agents: readonly Agent[]; answer: (how?: RestartAgent) => void };

let asked: Asked | undefined;
const listeners = new Set<() => void>();

/** Asks how many copies to make; nothing if the person thinks better of it. */
export function askForCopies(agents: readonly Agent[]): Promise<number | undefined> {
  asked?.answer();
  return new Promise((resolve) => show({ kind: "fork", agents, answer: closing(resolve) }));
}

/** Asks with which model and as which agent to begin anew; nothing if the person thinks better of it. */
export function askForRestart(agents: readonly Agent[]): Promise<RestartAgent | undefined> {
  asked?.answer();
  return new Promise((resolve) => show({ kind: "restart", agents, answer: closing(resolve) }));
}

function closing<T>(resolve: (value: T | undefined) => void) {
  return (value?: T) => {
    show(undefined);
    resolve(value);
  };
}

function show(next: Asked | undefined): void {
  asked = next;
  for (const tell of listeners) tell();
}

/** Shows the question; the page of agents has one. */
export function VerbDialogHost() {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  if (current?.kind === "fork") return <ForkDialog {...current} />;
  return current ? <RestartDialog {...current} /> : null;
}

function whomOf(agents: readonly Agent[]): string {
  const [first] = agents;
  return agents.length === 1 && first ? first.label : `${agents.length} agents`;
}

function ForkDialog({ agents, answer }: Extract<Asked, { kind: "fork" }>) {
  const [text, setText] = useState("1");
  const copies = Number(text);
  const isRight = /^\d+$/.test(text.trim()) && copies >= 1 && copies <= MOST_COPIES;
  return (
    <Dialog title={`Fork ${whomOf(agents)}`} onClose={() => answer()}>
      <form
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (isRight) answer(copies);
        }}
      >
        <p>Each copy has the files and the conversation, and a bead and a worktree of its own.</p>
        <TextField
          label="How many copies"
          value={text}
          inputMode="numeric"
          autoFocus
          error={isRight ? undefined : `Write a number from 1 to ${MOST_COPIES}.`}
          onChange={(event) => setText(event.target.value)}
        />
        <Cli
          command={`godel agent fork ${agents[0]?.label}${copies > 1 ? ` --copies ${copies}` : ""}`}
        />
        <Acts act="Fork" isReady={isRight} onClose={() => answer()} />
      </form>
    </Dialog>
  );
}

function RestartDialog({ agents, answer }: Extract<Asked, { kind: "restart" }>) {
  const [model, setModel] = useState("");
  const [harness, setHarness] = useState("");
  const isOnline = useIsOnline();
  const [first] = agents;
  const name = model.trim();
  const how = { ...(name !== "" && { model: name }), ...(harness !== "" && { harness }) };
  const flags = Object.entries(how).map(([flag, value]) => ` --${flag} ${shellWord(value)}`);
  return (
    <Dialog title={`Restart ${whomOf(agents)}`} onClose={() => answer()}>
      <form
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (isOnline) answer(how);
        }}
      >
        <p>A fresh conversation begins in the same worktree, with a note of the one before.</p>
        <TextField
          label="With another model"
          value={model}
          placeholder={first?.model ?? "the same"}
          autoFocus
          onChange={(event) => setModel(event.target.value)}
        />
        <Choice
          label="As another agent"
          value={harness}
          options={[
            ["", `As it is${first ? `: ${first.harness}` : ""}`],
            ...HARNESSES.map((one) => [one, one] as const),
          ]}
          onChange={setHarness}
        />
        {!isOnline && <p>The connection is lost; this waits until it is back.</p>}
        <Cli command={`godel agent restart ${first?.label}${flags.join("")}`} />
        <Acts act={`Restart ${whomOf(agents)}`} isReady={isOnline} onClose={() => answer()} />
      </form>
    </Dialog>
  );
}

function Acts({ act, isReady, onClose }: { act: string; isReady: boolean; onClose: () => void }) {
  return (
    <div className={styles.acts}>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="solid" type="submit" disabled={!isReady}>
        {act}
      </Button>
    </div>
  );
}
