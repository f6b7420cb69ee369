import { useState } from "react";
import type { Bead } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { Button } from "../../../ui/Button";
import { type Draft, useDraft } from "../../../ui/useDraft";
import { MAY_CHANGE } from "../actions";
import { useEditBeads } from "../changes";
import { fieldOf, isDropped } from "../looks";
import { useForeign } from "../useForeign";
import { BeadFacts } from "./BeadFacts";
import styles from "./BeadPanel.module.css";
import { CloseForm } from "./CloseForm";
import { Labels } from "./Labels";
import { Markdown } from "./Markdown";
import { Metadata } from "./Metadata";
import { countChecks, tick } from "./markdown";

/** What is to be done, how one sees that it is, and what is known about it. */
export function About({ bead }: { bead: Bead }) {
  const reason = fieldOf(bead.resolution, "reason");
  return (
    <>
      {reason && (
        <p className={styles.soft}>
          {isDropped(bead) ? "Dropped" : "Closed"}: {reason}
        </p>
      )}
      <TextPart bead={bead} field="description" title="Description" />
      <TextPart bead={bead} field="acceptance" title="Done when" />
      <section className={styles.section} aria-label="Labels">
        <h3>Labels</h3>
        <Labels bead={bead} />
      </section>
      <BeadFacts bead={bead} />
      <Metadata bead={bead} />
      {bead.status !== "done" && (
        <div className={styles.close}>
          <CloseForm bead={bead} />
        </div>
      )}
    </>
  );
}

interface TextPartProps {
  bead: Bead;
  field: "description" | "acceptance";
  title: string;
}

/** A text of the bead: read, ticked off, or written anew. */
function TextPart({ bead, field, title }: TextPartProps) {
  const [isEditing, setEditing] = useState(false);
  const edit = useEditBeads();
  const foreign = useForeign()([bead]);
  const refused = useRefusal(MAY_CHANGE) ?? foreign;
  const text = bead[field] ?? "";
  const { done, all } = countChecks(text);
  const name = `bead.${bead.id}.${field}`;
  const save = (next: string, draft?: Draft) =>
    edit.mutate({ beads: [bead], change: { [field]: next }, what: `the ${field}`, draft });
  return (
    <section className={styles.section} aria-label={title}>
      <h3>
        <span>
          {title}
          {all > 0 && ` · ${done} of ${all} ticked`}
        </span>
        {!isEditing && (
          <Guarded
            look="quiet"
            size="small"
            can={MAY_CHANGE}
            refused={foreign}
            cli={`godel bead update ${bead.id} --${field} "..."`}
            aria-label={`Edit: ${title}`}
            onClick={() => setEditing(true)}
          >
            Edit
          </Guarded>
        )}
      </h3>
      {isEditing ? (
        <TextForm
          name={name}
          title={title}
          text={text}
          onSave={(next) => {
            setEditing(false);
            if (next !== text) save(next, { name, text: next });
          }}
          onCancel={() => setEditing(false)}
        />
      ) : text === "" ? (
        <p className={styles.soft}>Nothing is written yet.</p>
      ) : (
        <Markdown
          source={text}
          onTick={refused ? undefined : (line, isDone) => save(tick(text, line, isDone))}
        />
      )}
    </section>
  );
}

interface TextFormProps {
  name: string;
  title: string;
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}

function TextForm({ name, title, text, onSave, onCancel }: TextFormProps) {
  const [draft, setDraft, clear] = useDraft(name, text);
  const save = () => {
    clear();
    onSave(draft);
  };
  return (
    <>
      <textarea
        className={styles.area}
        aria-label={title}
        value={draft}
        // biome-ignore lint/a11y/noAutofocus: a person just asked to write here
        autoFocus
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save();
          if (event.key === "Escape") onCancel();
        }}
      />
      <div className={styles.acts}>
        <Button
          size="small"
          onClick={() => {
            clear();
            onCancel();
          }}
        >
          Cancel
        </Button>
        <Button size="small" look="solid" onClick={save}>
          Save
        </Button>
      </div>
    </>
  );
}
