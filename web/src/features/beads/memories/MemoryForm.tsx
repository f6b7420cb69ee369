import type { FormEvent } from "react";
import type { Memory } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { Cli } from "../../../ui/Cli";
import { TextField } from "../../../ui/Field";
import { LongField } from "../../../ui/form/LongField";
import { useDraft } from "../../../ui/useDraft";
import styles from "../../agents/mail/Letters.module.css";
import { useProject } from "../../projects/queries";
import { useTarget } from "../../projects/useTarget";
import { MAY_CREATE } from "../actions";
import { nameFault, rememberCli, useRemember } from "./memories";

/** Remembers something; what is typed survives until it was sent. */
export function MemoryForm({ known }: { known: readonly Memory[] | undefined }) {
  const [text, setText, clearText] = useDraft("memory.text");
  const [name, setName, clearName] = useDraft("memory.name");
  const { projectId } = useProject();
  const { project, choice, needsProject } = useTarget();
  const remember = useRemember();
  const said = { text: text.trim(), name: name.trim() };
  const fault = nameFault(said.name);
  const there = known?.filter((one) => project === undefined || one.projectId === project);
  // On its way it is in the list already, and in place of nothing.
  const before = remember.isPending ? undefined : there?.find(({ id }) => id === said.name);
  const denied = useRefusal(MAY_CREATE);
  const wrong = needsProject ? "Choose a project first." : (whyNot(said, there) ?? fault);
  const refused = remember.isPending ? undefined : (denied ?? wrong);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (refused !== undefined || remember.isPending) return;
    const clear = () => {
      clearText();
      clearName();
    };
    // What was refused is still there to be sent again.
    remember.mutate({ ...said, projectId: project, before }, { onSuccess: clear });
  };
  return (
    <form className={styles.form} onSubmit={submit} aria-label="Remember something">
      {projectId === undefined && choice}
      <LongField
        label="What to know"
        rows={3}
        value={text}
        placeholder="Tests need Redis on port 6380"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
        }}
      />
      <TextField
        label="Name, if you like"
        value={name}
        autoComplete="off"
        placeholder="Made of the text"
        error={fault}
        {...(before && { note: `${before.id} is known already: this takes its place.` })}
        onChange={(event) => setName(event.target.value)}
      />
      <Cli command={rememberCli(said)} />
      <div className={styles.acts}>
        <Guarded look="solid" type="submit" align="end" can={MAY_CREATE} refused={refused}>
          {remember.isPending ? "Remembering" : "Remember"}
        </Guarded>
      </div>
    </form>
  );
}

function whyNot(
  { text, name }: { text: string; name: string },
  there: readonly Memory[] | undefined,
): string | undefined {
  if (text === "") return "Write something first.";
  // It could be in place of something, and then Undo must know of what.
  if (there === undefined) return "It is not known yet what is remembered.";
  const same = there.find((one) => one.text.trim() === text && (name === "" || name === one.id));
  return same && `It is remembered already, as ${same.id}.`;
}
