import { type ReactNode, useId, useRef, useState } from "react";
import type { Bead, BeadPatch } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Icon } from "../../../ui/Icon";
import { useDraft } from "../../../ui/useDraft";
import { MAY_CHANGE } from "../actions";
import { useEditBeads } from "../changes";
import { useForeign } from "../useForeign";
import styles from "./EditableFact.module.css";

interface EditableFactProps {
  bead: Bead;
  /** What it is: `Estimate`. */
  name: string;
  /** What it is now, as one would type it; empty if there is none. */
  text: string;
  /** The same as it is shown. */
  shown?: string | undefined;
  placeholder: string;
  /** What is wrong with what was typed, as a sentence. */
  faultOf?: ((text: string) => string | undefined) | undefined;
  changeOf: (text: string) => BeadPatch;
  /** The same on the command line, with what was typed. */
  cli: string;
  /** What else can be done with it, beside the pencil. */
  tools?: ReactNode;
  /** What could be typed. */
  known?: readonly (readonly [value: string, title: string])[] | undefined;
}

/** A name and a value that can be written anew; Enter keeps it, Escape keeps what was there. */
export function EditableFact(props: EditableFactProps) {
  const { bead, name, text, cli } = props;
  const [isEditing, setEditing] = useState(false);
  const edit = useEditBeads();
  const foreign = useForeign()([bead]);
  const save = (next: string) => {
    setEditing(false);
    if (next.trim() === text) return;
    const change = props.changeOf(next.trim());
    const draft = { name: draftOf(props), text: next };
    edit.mutate({ beads: [bead], change, what: `the ${name.toLowerCase()}`, draft });
  };
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>
        {isEditing ? (
          <FactInput {...props} onSave={save} onCancel={() => setEditing(false)} />
        ) : (
          <>
            {text === "" ? (
              <span className={styles.none}>none</span>
            ) : (
              <bdi>{props.shown ?? text}</bdi>
            )}
            <Guarded
              look="quiet"
              size="small"
              isIcon
              can={MAY_CHANGE}
              refused={foreign}
              cli={cli}
              aria-label={`Edit: ${name}`}
              onClick={() => setEditing(true)}
            >
              <Icon name="edit" size={13} />
            </Guarded>
            {props.tools}
          </>
        )}
      </dd>
    </div>
  );
}

/** What a value is called among the drafts. */
const draftOf = ({ bead, name }: Pick<EditableFactProps, "bead" | "name">) =>
  `bead.${bead.id}.fact.${name}`;

type FactInputProps = EditableFactProps & {
  onSave: (text: string) => void;
  onCancel: () => void;
};

function FactInput({ name, text, faultOf, known = [], onSave, onCancel, ...rest }: FactInputProps) {
  // Who goes back in the middle of it finds it here the next time.
  const [draft, setDraft, clear] = useDraft(draftOf({ bead: rest.bead, name }), text);
  const [fault, setFault] = useState<string>();
  const id = useId();
  // An input that goes away loses the focus, and that must not save once more.
  const isOver = useRef(false);
  const save = () => {
    const wrong = faultOf?.(draft);
    setFault(wrong);
    if (isOver.current || wrong !== undefined) return;
    isOver.current = true;
    clear();
    onSave(draft);
  };
  const cancel = () => {
    isOver.current = true;
    clear();
    onCancel();
  };
  return (
    <div className={styles.edit}>
      <input
        className={styles.input}
        aria-label={name}
        aria-invalid={fault !== undefined || undefined}
        aria-describedby={fault === undefined ? undefined : `${id}-wrong`}
        placeholder={rest.placeholder}
        autoComplete="off"
        spellCheck={false}
        list={known.length > 0 ? `${id}-known` : undefined}
        value={draft}
        // biome-ignore lint/a11y/noAutofocus: a person just asked to write here
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Enter") save();
          if (event.key === "Escape") cancel();
        }}
      />
      {known.length > 0 && (
        <datalist id={`${id}-known`}>
          {known.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </datalist>
      )}
      {fault !== undefined && (
        <p id={`${id}-wrong`} className={styles.fault} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}
