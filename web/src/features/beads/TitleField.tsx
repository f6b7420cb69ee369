import type { Bead } from "../../api/types";
import { useRefusal } from "../../roles/session";
import { useDraft } from "../../ui/useDraft";
import { MAY_CHANGE } from "./actions";
import { useEditBeads } from "./changes";
import styles from "./TitleField.module.css";
import { useForeign } from "./useForeign";

interface TitleFieldProps {
  bead: Bead;
  isEditing: boolean;
  onEditing: (isEditing: boolean) => void;
  /** In a row of a table there is room for one line. */
  isSmall?: boolean;
}

/** The title; Enter keeps what was written, Escape what was there. */
export function TitleField(props: TitleFieldProps) {
  const { bead, isEditing, isSmall = false } = props;
  // A table has a hundred of them: until one is written in, it is no more than its text.
  if (isSmall && !isEditing) return <span title={bead.title}>{bead.title}</span>;
  return <Writable {...props} isSmall={isSmall} />;
}

function Writable({ bead, isEditing, onEditing, isSmall = false }: TitleFieldProps) {
  const edit = useEditBeads();
  const foreign = useForeign();
  const refused = useRefusal(MAY_CHANGE) ?? foreign([bead]);
  if (!isEditing || refused) {
    if (isSmall) return <span title={bead.title}>{bead.title}</span>;
    return (
      <h2 className={styles.title}>
        <button
          type="button"
          aria-disabled={refused !== undefined || undefined}
          title={refused ?? "Edit the title (E)"}
          onClick={() => onEditing(true)}
        >
          {bead.title}
        </button>
      </h2>
    );
  }
  const save = (text: string) => {
    onEditing(false);
    const title = text.trim();
    if (title === "" || title === bead.title) return;
    const draft = { name: draftOf(bead), text };
    edit.mutate({ beads: [bead], change: { title }, what: "the title", draft });
  };
  return <Input bead={bead} isSmall={isSmall} onSave={save} onCancel={() => onEditing(false)} />;
}

/** What a title is called among the drafts. */
const draftOf = (bead: Bead) => `bead.${bead.id}.title`;

interface InputProps {
  bead: Bead;
  isSmall: boolean;
  onSave: (text: string) => void;
  onCancel: () => void;
}

function Input({ bead, isSmall, onSave, onCancel }: InputProps) {
  // Who goes back in the middle of it finds it here the next time.
  const [text, setText, clear] = useDraft(draftOf(bead), bead.title);
  const save = () => {
    clear();
    onSave(text);
  };
  return (
    <input
      className={isSmall ? styles.small : styles.input}
      aria-label="Title"
      value={text}
      // biome-ignore lint/a11y/noAutofocus: a person just asked to write here
      autoFocus
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") save();
        if (event.key !== "Escape") return;
        clear();
        onCancel();
      }}
    />
  );
}
