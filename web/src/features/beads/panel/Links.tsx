import { useState } from "react";
import { post, remove } from "../../../api/client";
import type { Bead } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { Guarded } from "../../../roles/Guarded";
import { shellWord, words } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { Select } from "../../../ui/PageHead";
import { ShortId } from "../../../ui/ShortId";
import { MAY_CHANGE } from "../actions";
import { StatusMark } from "../BeadMarks";
import { expectBeads } from "../changes";
import type { BeadGraph } from "../graph";
import { BEAD_LISTS, beadKey, beadPath } from "../queries";
import { useForeign } from "../useForeign";
import styles from "./BeadPanel.module.css";

const TITLES: Record<string, string> = {
  blocks: "Waits on",
  "waits-for": "Waits on it and all its parts",
  "conditional-blocks": "Wanted if it fails",
  "parent-child": "Part of",
  related: "Related to",
};

interface LinksProps {
  bead: Bead;
  graph: BeadGraph;
  onOpen: (id: string) => void;
}

/** What a bead is linked to, both ways, and how to link it. */
export function Links({ bead, graph, onOpen }: LinksProps) {
  const unlink = useLink(bead, "unlink");
  const foreign = useForeign()([bead]);
  const types = [...new Set(bead.links.map(({ type }) => type))];
  const groups = types.map((type) => ({
    type,
    title: TITLES[type] ?? words(type),
    targets: bead.links.filter((link) => link.type === type).map(({ target }) => target),
  }));
  const back = [
    { title: "Those that wait on it", beads: graph.waitersOf(bead.id) },
    { title: "Its parts", beads: graph.partsOf(bead.id) },
  ].filter(({ beads }) => beads.length > 0);
  return (
    <>
      {groups.length === 0 && back.length === 0 && (
        <p className={styles.soft}>It is linked to no other bead.</p>
      )}
      {groups.map(({ type, title, targets }) => (
        <section key={type} className={styles.section} aria-label={title}>
          <h3>{title}</h3>
          <ul className={styles.rows}>
            {targets.map((target) => (
              <li key={target} className={styles.row}>
                <Other id={target} graph={graph} onOpen={onOpen} />
                <Guarded
                  look="quiet"
                  size="small"
                  isIcon
                  can={MAY_CHANGE}
                  refused={foreign}
                  cli={`godel bead dep remove ${bead.id} ${target}`}
                  aria-label={`Remove the link to ${target}`}
                  onClick={() => unlink.mutate({ type, target })}
                >
                  <Icon name="cross" size={13} />
                </Guarded>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {back.map(({ title, beads }) => (
        <section key={title} className={styles.section} aria-label={title}>
          <h3>{title}</h3>
          <ul className={styles.rows}>
            {beads.map(({ id }) => (
              <li key={id} className={styles.row}>
                <Other id={id} graph={graph} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      <AddLink bead={bead} />
    </>
  );
}

function Other({
  id,
  graph,
  onOpen,
}: {
  id: string;
  graph: BeadGraph;
  onOpen: (id: string) => void;
}) {
  const other = graph.byId.get(id);
  return (
    <>
      <ShortId id={id} isWhole />
      <button type="button" className={styles.open} onClick={() => onOpen(id)}>
        {other?.title ?? "not in this list"}
      </button>
      {other && <StatusMark bead={other} />}
    </>
  );
}

interface LinkOrder {
  type: string;
  target: string;
}

function useLink(bead: Bead, verb: "link" | "unlink") {
  return useChange<LinkOrder, Bead>({
    what: ({ target }) =>
      verb === "link" ? `Link ${bead.id} to ${target}` : `Remove the link to ${target}`,
    send: (link) => (verb === "link" ? link_(bead, link) : unlink_(bead, link)),
    expect: (cache, link) =>
      expectBeads(cache, [bead], ({ links }) => {
        const others = links.filter(
          ({ type, target }) => type !== link.type || target !== link.target,
        );
        return { links: verb === "link" ? [...others, link] : others };
      }),
    settle: () => [BEAD_LISTS, beadKey(bead.id)],
    undo: (link) => (verb === "link" ? unlink_(bead, link) : link_(bead, link)),
    done: ({ target }) =>
      verb === "link" ? `Linked to ${target}` : `No longer linked to ${target}`,
  });
}

const link_ = (bead: Bead, link: LinkOrder) => post(beadPath(bead, "/links"), link);
const unlink_ = (bead: Bead, { type, target }: LinkOrder) =>
  remove(beadPath(bead, `/links/${type}/${encodeURIComponent(target)}`));

/** The server knows circles and refuses them, with the way around. */
function AddLink({ bead }: { bead: Bead }) {
  const [target, setTarget] = useState("");
  const [type, setType] = useState("blocks");
  const link = useLink(bead, "link");
  const foreign = useForeign()([bead]);
  const add = () => {
    if (target.trim() === "" || foreign) return;
    link.mutate({ type, target: target.trim() });
    setTarget("");
  };
  return (
    <form
      className={styles.section}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <h3>Add a link</h3>
      <div className={styles.add}>
        <Select
          label="How they are linked"
          value={type}
          onChange={setType}
          options={Object.entries(TITLES)}
        />
        <input
          className={styles.field}
          aria-label="The other bead"
          placeholder="The id of the other bead"
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
        <Guarded
          size="small"
          side="above"
          can={MAY_CHANGE}
          refused={foreign}
          cli={`godel bead dep add ${bead.id} ${shellWord(target.trim() || "ID")} --type ${type}`}
          onClick={add}
        >
          Link
        </Guarded>
      </div>
    </form>
  );
}
