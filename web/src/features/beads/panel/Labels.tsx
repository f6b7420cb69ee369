import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Listing } from "../../../api/list";
import type { Bead } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { shellWord } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { wordsIn } from "../../../ui/typed";
import { useProject } from "../../projects/queries";
import { MAY_CHANGE } from "../actions";
import { useEditBeads } from "../changes";
import { labelCounts } from "../fields";
import { beadQueries } from "../queries";
import { useForeign } from "../useForeign";
import own from "./EditableFact.module.css";

/** Labels that are suggested; more would be no help. */
const MOST_KNOWN = 50;

/** Labels that beads have already, the most common first. */
export function useKnownLabels(): readonly string[] {
  const { projectId } = useProject();
  const { data } = useQuery({ ...beadQueries.all(projectId), select: commonLabels });
  return data ?? NONE;
}

const NONE: readonly string[] = [];
const commonLabels = ({ items }: Listing<Bead>): readonly string[] =>
  labelCounts(items)
    .slice(0, MOST_KNOWN)
    .map(([label]) => label);

/** The labels of a bead as chips; each can be taken off, and more can be added. */
export function Labels({ bead }: { bead: Bead }) {
  const edit = useEditBeads();
  const foreign = useForeign()([bead]);
  const refused = useRefusal(MAY_CHANGE) ?? foreign;
  const set = (labels: string[]) =>
    edit.mutate({ beads: [bead], change: { labels }, what: "the labels" });
  const add = (text: string) => {
    const fresh = wordsIn(text).filter((label) => !bead.labels.includes(label));
    if (fresh.length > 0) set([...bead.labels, ...fresh]);
  };
  return (
    <div className={own.chips}>
      {bead.labels.map((label) => (
        <span key={label} className={own.chip} data-label={label}>
          {label}
          <Guarded
            look="quiet"
            size="small"
            isIcon
            can={MAY_CHANGE}
            refused={foreign}
            cli={`godel bead label remove ${bead.id} ${shellWord(label)}`}
            aria-label={`Remove the label ${label}`}
            onClick={() => set(bead.labels.filter((one) => one !== label))}
          >
            <Icon name="cross" size={11} />
          </Guarded>
        </span>
      ))}
      <LabelInput refused={refused} cli={`godel bead label add ${bead.id} LABEL`} onAdd={add} />
    </div>
  );
}

interface LabelInputProps {
  refused?: string | undefined;
  cli?: string | undefined;
  onAdd: (text: string) => void;
}

/** A line for labels: Enter or a comma adds what was typed. */
export function LabelInput({ refused, cli, onAdd }: LabelInputProps) {
  const [text, setText] = useState("");
  const known = useKnownLabels();
  const id = useId();
  const add = () => {
    onAdd(text);
    setText("");
  };
  return (
    <>
      <input
        className={own.add}
        aria-label="Add a label"
        placeholder="Add a label"
        title={refused ?? cli}
        readOnly={refused !== undefined}
        aria-disabled={refused !== undefined || undefined}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        list={id}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === "Escape") setText("");
          if (event.key !== "Enter" && event.key !== ",") return;
          event.preventDefault();
          add();
        }}
      />
      <datalist id={id}>
        {known.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
    </>
  );
}
