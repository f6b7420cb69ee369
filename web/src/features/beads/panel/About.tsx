import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Bead } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { Button } from "../../../ui/Button";
import { Facts } from "../../../ui/Facts";
import { duration, money, shortTime } from "../../../ui/format";
import { Badge } from "../../../ui/Status";
import { useDraft } from "../../../ui/useDraft";
import { MAY_CHANGE } from "../actions";
import { useEditBeads } from "../changes";
import { fieldOf, isDropped } from "../looks";
import { beadQueries } from "../queries";
import { useForeign } from "../useForeign";
import styles from "./BeadPanel.module.css";
import { CloseForm } from "./CloseForm";
import { Markdown } from "./Markdown";
import { countChecks, tick } from "./markdown";

/** What is to be done, how one sees that it is, and what is known about it. */
export function About({ bead }: { bead: Bead }) {
  const costs = useQuery(beadQueries.costs());
  const spent = costs.data?.get(bead.id);
  const reason = fieldOf(bead.resolution, "reason");
  const facts: (readonly [string, string])[] = [
    ["Created", `${shortTime(bead.createdAt)}${bead.createdBy ? ` by ${bead.createdBy}` : ""}`],
    ["Updated", shortTime(bead.updatedAt)],
  ];
  if (bead.estimate) facts.push(["Estimate", duration(bead.estimate * 60)]);
  if (bead.budget) facts.push(["Budget", money(bead.budget)]);
  if (costs.data) facts.push(["Cost", money(spent ?? 0)]);
  if (bead.defer) facts.push(["Not before", shortTime(bead.defer)]);
  if (bead.worktree) facts.push(["Worktree", bead.worktree]);
  if (bead.lease) facts.push(["Held until", shortTime(bead.lease.until)]);
  return (
    <>
      {reason && (
        <p className={styles.soft}>
          {isDropped(bead) ? "Dropped" : "Closed"}: {reason}
        </p>
      )}
      <TextPart bead={bead} field="description" title="Description" />
      <TextPart bead={bead} field="acceptance" title="Done when" />
      {bead.labels.length > 0 && (
        <div className={styles.section}>
          <h3>Labels</h3>
          <div className={styles.labels}>
            {bead.labels.map((label) => (
              <Badge key={label}>{label}</Badge>
            ))}
          </div>
        </div>
      )}
      <section className={styles.section} aria-label="Facts">
        <h3>Facts</h3>
        <Facts facts={facts} />
      </section>
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
  const save = (next: string) =>
    edit.mutate({ beads: [bead], change: { [field]: next }, what: `the ${field}` });
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
          name={`bead.${bead.id}.${field}`}
          title={title}
          text={text}
          onSave={(next) => {
            setEditing(false);
            if (next !== text) save(next);
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
