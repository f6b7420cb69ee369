import { useRef, useState } from "react";
import { useRefusal } from "../../roles/session";
import { Icon } from "../../ui/Icon";
import { useDraft } from "../../ui/useDraft";
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
  const [title, setTitle, clear] = useDraft(`board.${lane.id}.${status}`);
  const create = useCreateBeads();
  const foreign = useForeignConvoy();
  // What is made here joins the convoy of the lane.
  const refused = useRefusal(MAY_CREATE) ?? (lane.convoy && foreign(lane.convoy));
  const input = useRef<HTMLInputElement>(null);
  const add = (titles: readonly string[]) => {
    if (titles.length === 0) return;
    create.mutate({
      titles,
      project,
      status,
      agent: lane.agent,
      convoy: lane.convoy && { id: lane.convoy.id, projectId: lane.convoy.projectId },
    });
    clear();
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
    <input
      ref={input}
      className={styles.createInput}
      aria-label={`New bead: ${lane.title}, ${status}`}
      placeholder="Title, or paste a list"
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
        if (event.key === "Enter") add(titlesOf(title));
        if (event.key === "Escape") {
          clear();
          setOpen(false);
        }
      }}
    />
  );
}
