import { useQuery } from "@tanstack/react-query";
import type { Memory } from "../../../api/types";
import { ToastsHere } from "../../../change/Toaster";
import { Guarded } from "../../../roles/Guarded";
import { useParam } from "../../../router/router";
import { Cli } from "../../../ui/Cli";
import { Drawer } from "../../../ui/Drawer";
import { Empty, EmptyFilter } from "../../../ui/Empty";
import { Loaded } from "../../../ui/Loaded";
import { FilterBox } from "../../../ui/PageHead";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Time } from "../../../ui/Time";
import styles from "../../agents/mail/Letters.module.css";
import { nameIn } from "../../agents/mail/letters";
import { useProject } from "../../projects/queries";
import { MAY_CHANGE } from "../actions";
import { MemoryForm } from "./MemoryForm";
import { having, isNotYet, listCli, memoriesQuery, useForget } from "./memories";

/** The field of the address that holds what is looked for. */
export const FIND = "find";

/** What is worth knowing in a project, or in all: to look up, to add to, to forget. */
export function MemoryDrawer({ onClose }: { onClose: () => void }) {
  const { projects, projectId } = useProject();
  const query = useQuery(memoriesQuery(projectId));
  const [words = "", setWords] = useParam(FIND);
  const projectOf = ({ projectId: id }: Memory) =>
    projects.length > 1 ? projects.find((one) => one.id === id)?.name : undefined;
  return (
    <Drawer title="What is remembered" onClose={onClose}>
      <div className={styles.stack}>
        <MemoryForm known={query.data?.items} />
        <Loaded
          query={query}
          what="What is remembered"
          skeleton={<SkeletonRows rows={4} height={64} />}
        >
          {({ items }) => {
            if (items.length === 0) return <Nothing />;
            const found = having(items, words);
            return (
              <>
                <FilterBox
                  label="Look for words"
                  placeholder="Words of names and texts"
                  value={words}
                  onChange={setWords}
                />
                {found.length === 0 ? (
                  <EmptyFilter what="names or texts" onClear={() => setWords(undefined)} />
                ) : (
                  <ul className={styles.list} aria-label="What is remembered">
                    {found.map((one) => (
                      <OneMemory
                        key={`${one.projectId} ${one.id}`}
                        memory={one}
                        project={projectOf(one)}
                      />
                    ))}
                  </ul>
                )}
                <Cli command={listCli(words)} />
              </>
            );
          }}
        </Loaded>
        <ToastsHere />
      </div>
    </Drawer>
  );
}

function Nothing() {
  return (
    <Empty
      icon="archive"
      why="Nothing is remembered yet. Keep here what whoever works next should know: it is in git beside the beads, and godel prime tells it to an agent that asks what it needs."
      cli={'godel remember "Tests need Redis on port 6380"'}
    />
  );
}

function OneMemory({ memory, project }: { memory: Memory; project: string | undefined }) {
  const { id, text, createdBy, updatedAt } = memory;
  const forget = useForget();
  const isNew = isNotYet(memory);
  return (
    <li className={styles.letter} data-memory={id}>
      <p className={styles.head}>
        <strong>{isNew ? "Not named yet" : id}</strong>
        {project && <span>{project}</span>}
        {createdBy && <span>{nameIn(createdBy)}</span>}
        <Time at={updatedAt} />
        <Guarded
          look="quiet"
          size="small"
          can={MAY_CHANGE}
          refused={isNew ? "It is not kept yet." : undefined}
          aria-label={isNew ? "Forget it" : `Forget ${id}`}
          cli={`godel forget ${id}`}
          onClick={() => forget.mutate(memory)}
        >
          Forget
        </Guarded>
      </p>
      <p className={styles.text}>{text}</p>
    </li>
  );
}
