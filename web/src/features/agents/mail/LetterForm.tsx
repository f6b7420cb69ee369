import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useId } from "react";
import type { Agent } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useCan, useRefusal } from "../../../roles/session";
import { Cli } from "../../../ui/Cli";
import { TextField } from "../../../ui/Field";
import { LongField } from "../../../ui/form/LongField";
import { useDraft } from "../../../ui/useDraft";
import { usersQuery } from "../../costs/queries";
import { agentQueries } from "../queries";
import { useWhyNot } from "../useAgentActs";
import { isAlive } from "../views";
import styles from "./Letters.module.css";
import { sendCli, useSendLetter } from "./letters";

const MAY_SEND = "agent:execute:own";

interface LetterFormProps {
  /** The agent that is written to; without one the form asks to whom. */
  agent?: Agent;
  to: string;
  onTo?: (to: string) => void;
}

/** Writes a letter; what is typed survives until it was sent. */
export function LetterForm({ agent, to, onTo }: LetterFormProps) {
  const [text, setText, clear] = useDraft(`letter.${agent?.id ?? ""}`);
  const send = useSendLetter();
  const letter = { to: to.trim(), text: text.trim() };
  const agents = useQuery({ ...agentQueries.all(), enabled: !agent }).data?.items ?? NOBODY;
  const whom = agent ?? agents.find((one) => isCalled(one, letter.to));
  const whyNoMessage = useWhyNot();
  const refused =
    useRefusal(MAY_SEND) ?? (whom && whyNoMessage("message", whom)) ?? whatIsMissing(letter);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (refused !== undefined || send.isPending) return;
    // A letter that was refused is still there to be sent again.
    send.mutate(letter, { onSuccess: clear });
  };
  return (
    <form className={styles.form} onSubmit={submit} aria-label="Write a letter">
      {onTo && <ToField to={to} agents={agents} onTo={onTo} />}
      <LongField
        label={agent ? `Write to ${agent.label}` : "What it says"}
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
        }}
      />
      <Cli command={sendCli(letter)} />
      <div className={styles.acts}>
        <Guarded look="solid" type="submit" align="end" can={MAY_SEND} refused={refused}>
          {send.isPending ? "Sending" : "Send"}
        </Guarded>
      </div>
    </form>
  );
}

const NOBODY: readonly Agent[] = [];

/** Whether the server takes a name for this agent. */
function isCalled({ id, label }: Agent, name: string): boolean {
  return id === name || label === name.replace(/^agent:/, "");
}

interface ToFieldProps {
  to: string;
  agents: readonly Agent[];
  onTo: (to: string) => void;
}

/** To whom: agents that live and people are offered, as far as the reader knows them. */
function ToField({ to, agents, onTo }: ToFieldProps) {
  const known = useId();
  const users = useQuery({ ...usersQuery, enabled: useCan("user:read:team") });
  const names = [
    ...agents.filter(isAlive).map(({ label }) => label),
    ...(users.data?.items ?? [])
      .filter(({ status }) => status === "active")
      .map(({ name }) => name),
  ];
  return (
    <>
      <TextField
        label="To"
        value={to}
        list={known}
        placeholder="worker-1, or the name of a person"
        autoComplete="off"
        onChange={(event) => onTo(event.target.value)}
      />
      <datalist id={known}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function whatIsMissing({ to, text }: { to: string; text: string }): string | undefined {
  if (to === "") return "Say to whom first.";
  return text === "" ? "Write something first." : undefined;
}
