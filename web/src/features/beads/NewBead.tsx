import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Bead, NewBead as BeadRequest } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { Disclosure } from "../../ui/Disclosure";
import { TextField } from "../../ui/Field";
import { words } from "../../ui/format";
import { Select } from "../../ui/PageHead";
import { wordsIn } from "../../ui/typed";
import { readDraft, writeDraft } from "../../ui/useDraft";
import { budgetFault, microsOf } from "../intents/wish";
import { MAY_CREATE } from "./actions";
import styles from "./BeadTable.module.css";
import { useCreateBeads } from "./changes";
import { type BeadForm, createCli, estimateFault, minutesIn } from "./fields";
import { PRIORITIES, PRIORITY_LOOKS, TYPES } from "./looks";
import panel from "./panel/BeadPanel.module.css";
import { beadQueries } from "./queries";

const EMPTY: BeadForm = {
  title: "",
  description: "",
  type: "task",
  priority: "medium",
  acceptance: "",
  labels: "",
  parent: "",
  blockedBy: "",
  estimate: "",
  budget: "",
};
const DRAFT = "bead.new";
/** Drafts that the server was sent and has not answered yet. */
const onTheWay = new Set<string>();
/** Beads that are offered; whoever wants another types its id. */
const MOST_OFFERED = 200;

type Faults = Partial<Record<keyof BeadForm, string | undefined>>;

interface FieldsProps {
  form: BeadForm;
  set: (change: Partial<BeadForm>) => void;
  faults: Faults;
}

/** Asks what is to be done. */
export function NewBead({
  project,
  onClose,
}: {
  project: string | undefined;
  onClose: () => void;
}) {
  const { form, set, draft } = useBeadForm();
  const { data } = useQuery(beadQueries.all(project));
  const create = useCreateBeads();
  const faults = faultsOf(form, data?.isCut === false ? data.items : undefined);
  const refused =
    form.title.trim() === ""
      ? "Say what is to be done first."
      : Object.values(faults).find((fault) => fault !== undefined);
  const make = () => {
    if (refused !== undefined) return;
    onTheWay.add(draft.text);
    create
      .mutateAsync({ titles: [form.title.trim()], project, fields: fieldsOf(form), draft })
      // Why it was refused is told by the change itself.
      .catch(() => undefined)
      .finally(() => onTheWay.delete(draft.text));
    onClose();
  };
  return (
    <Dialog title="New bead" onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <TextField
          label="What is to be done"
          value={form.title}
          autoFocus
          onChange={(event) => set({ title: event.target.value })}
        />
        <textarea
          className={panel.area}
          aria-label="Description"
          placeholder="At length, in Markdown; - [ ] makes a box to tick"
          value={form.description}
          onChange={(event) => set({ description: event.target.value })}
        />
        <div className={styles.pair}>
          <Select
            label="Type"
            value={form.type}
            onChange={(type) => set({ type })}
            options={TYPES.map((one) => [one, words(one)] as const)}
          />
          <Select
            label="Priority"
            value={form.priority}
            onChange={(priority) => set({ priority })}
            options={PRIORITIES.map((one) => [one, PRIORITY_LOOKS[one].title] as const)}
          />
        </div>
        <Disclosure label="More">
          <More form={form} set={set} faults={faults} beads={data?.items ?? []} />
        </Disclosure>
        <Cli command={createCli(form)} />
        <Acts refused={refused} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** What is rarely needed: how one sees that it is done, words to find it by, other beads, and limits. */
function More({ form, set, faults, beads }: FieldsProps & { beads: readonly Bead[] }) {
  const id = useId();
  const open = beads.filter(({ status }) => status !== "done").slice(0, MOST_OFFERED);
  return (
    <div className={styles.more}>
      <TextField
        label="Done when"
        placeholder="What one sees when it is done"
        value={form.acceptance}
        onChange={(event) => set({ acceptance: event.target.value })}
      />
      <TextField
        label="Labels"
        placeholder="auth, urgent"
        value={form.labels}
        onChange={(event) => set({ labels: event.target.value })}
      />
      <div className={styles.two}>
        <TextField
          label="Part of"
          placeholder="The id of a bead"
          list={id}
          value={form.parent}
          error={faults.parent}
          onChange={(event) => set({ parent: event.target.value })}
        />
        <TextField
          label="Waits on"
          placeholder="Ids of beads"
          list={id}
          value={form.blockedBy}
          error={faults.blockedBy}
          onChange={(event) => set({ blockedBy: event.target.value })}
        />
        <TextField
          label="Estimate"
          placeholder="90m, 2h or 3d"
          value={form.estimate}
          error={faults.estimate}
          onChange={(event) => set({ estimate: event.target.value })}
        />
        <TextField
          label="Budget in dollars"
          placeholder="no limit"
          inputMode="decimal"
          value={form.budget}
          error={faults.budget}
          onChange={(event) => set({ budget: event.target.value })}
        />
      </div>
      <datalist id={id}>
        {open.map((bead) => (
          <option key={bead.id} value={bead.id}>
            {bead.title}
          </option>
        ))}
      </datalist>
    </div>
  );
}

/** What was written survives a reload, a step back and a refusal, until the bead is made. */
function useBeadForm() {
  const [text, setText] = useState(keptText);
  const form: BeadForm = { ...EMPTY, ...(text === "" ? {} : JSON.parse(text)) };
  const set = (change: Partial<BeadForm>) => {
    const next = JSON.stringify({ ...form, ...change });
    setText(next);
    writeDraft(DRAFT, next);
  };
  return { form, set, draft: { name: DRAFT, text } };
}

/** What somebody goes on with; whoever writes one bead after the other begins with nothing. */
function keptText(): string {
  const kept = readDraft(DRAFT) ?? "";
  return onTheWay.has(kept) ? "" : kept;
}

/** What is wrong before anything is sent; ids are looked up if all beads are `known`. */
function faultsOf(form: BeadForm, known: readonly Bead[] | undefined): Faults {
  const missing = (ids: readonly string[]) => {
    const unknown = known && ids.find((id) => !known.some((bead) => bead.id === id));
    return unknown === undefined ? undefined : `There is no bead ${unknown}.`;
  };
  return {
    parent: missing(wordsIn(form.parent).slice(0, 1)),
    blockedBy: missing(wordsIn(form.blockedBy)),
    estimate: estimateFault(form.estimate),
    budget: budgetFault(form.budget),
  };
}

/** What is sent; what is left empty is not. */
function fieldsOf(form: BeadForm): Partial<BeadRequest> {
  const [description, acceptance, parentBead] = [
    form.description.trim(),
    form.acceptance.trim(),
    form.parent.trim(),
  ];
  const [labels, blockedBy] = [wordsIn(form.labels), wordsIn(form.blockedBy)];
  const [estimate, budget] = [minutesIn(form.estimate), microsOf(form.budget)];
  return {
    type: form.type,
    priority: form.priority,
    ...(description && { description }),
    ...(acceptance && { acceptance }),
    ...(parentBead && { parentBead }),
    ...(labels.length > 0 && { labels }),
    ...(blockedBy.length > 0 && { blockedBy }),
    ...(estimate > 0 && { estimate }),
    ...(budget && { budget }),
  };
}

function Acts({ refused, onClose }: { refused: string | undefined; onClose: () => void }) {
  return (
    <div className={styles.acts}>
      <Button onClick={onClose}>Cancel</Button>
      <Guarded look="solid" type="submit" side="above" can={MAY_CREATE} refused={refused}>
        Create
      </Guarded>
    </div>
  );
}
