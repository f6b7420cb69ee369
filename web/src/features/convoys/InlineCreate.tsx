import { useState } from "react";
import { useRefusal } from "../../roles/session";
import { Icon } from "../../ui/Icon";
import { returnDraft, useDraft } from "../../ui/useDraft";
import { MAY_CREATE } from "../beads/actions";
import { useCreateBeads } from "../beads/changes";
import type { BeadStatus } from "../beads/looks";
import styles from "./Board.module.css";
import { type Lane, titlesOf } from "./board";
import { useForeignConvoy } from "./useConvoyItems";

interface InlineCreateProps {
  lane: Lane;
  status: BeadStatus;
  project: string | undefined;
}

/** A line at the foot of a cell: Enter makes a bead, a list that is pasted makes one per line. */
export function InlineCreate({ lane, status, project }: InlineCreateProps) {
  const [isOpen, setOpen] = useState(false);
  const name = `board.${lane.id}.${status}`;
  const [title, setTitle, clear] = useDraft(name);
  const create = useCreateBeads();
  const foreign = useForeignConvoy();
  // What is made here joins the convoy of the lane.
  const refused = useRefusal(MAY_CREATE) ?? (lane.convoy && foreign(lane.convoy));
  const add = (titles: readonly string[]) => {
    if (titles.length === 0) return;
    const draft = { name, text: titles.join("\n") };
    clear();
    create
      .mutateAsync({
        titles,
        project,
        status,
        agent: lane.agent,
        convoy: lane.convoy && { id: lane.convoy.id, projectId: lane.convoy.projectId },
        draft,
      })
      // Why it was refused is told by the change itself.
      .catch(() => returnDraft(draft));
  };
  if (refused !== undefined || (!isOpen && title === "")) {
    return (
      <button
        type="button"
        className={styles.create}
        aria-disabled={refused !== undefined || undefined}
        title={refused ?? 'godel bead create "..."'}
        onClick={() => refused === undefined && setOpen(true)}
      >
        <Icon name="plus" size={13} />
        New bead
      </button>
    );
  }
  return (
    <textarea
      className={styles.createInput}
      aria-label={`New bead: ${lane.title}, ${status}`}
      placeholder="Title, or paste a list"
      // A list that was refused comes back with all its lines.
      rows={title.split("\n").length}
      value={title}
      // biome-ignore lint/a11y/noAutofocus: a person just asked to write here
      autoFocus={isOpen}
      onChange={(event) => setTitle(event.target.value)}
      onBlur={() => setOpen(false)}
      onPaste={(event) => {
        const titles = titlesOf(event.clipboardData.getData("text"));
        if (titles.length < 2) return;
        event.preventDefault();
        add(titles);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          add(titlesOf(title));
        }
        if (event.key === "Escape") {
          clear();
          setOpen(false);
        }
      }}
    />
  );
}
