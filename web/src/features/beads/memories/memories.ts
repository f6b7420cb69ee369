import { queryOptions } from "@tanstack/react-query";
import { get, post, remove } from "../../../api/client";
import { serverTimestamp } from "../../../api/clock";
import { queryOf } from "../../../api/query";
import type { Memory } from "../../../api/types";
import { type Rehearsal, useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { useSession } from "../../../roles/session";
import { shellWord } from "../../../ui/format";

const MEMORIES = ["memories"] as const;
const NAME = /^[a-z0-9][a-z0-9-]*$/;
const NAME_MAX_CHARS = 60;

interface Memories {
  items: Memory[];
}

/** The place of what is remembered in a project; of all of them without one. */
const listKey = (projectId?: string) => [...MEMORIES, projectId ?? ""] as const;
const listPath = (projectId?: string) =>
  `/api/v1/memories${queryOf(projectId ? { projectId } : {})}` as const;

/** What is remembered in a project, or in all. */
export const memoriesQuery = (projectId?: string) =>
  queryOptions({
    queryKey: listKey(projectId),
    queryFn: () => get(listPath(projectId)),
  });

onLive({ on: "memory:*", invalidate: () => [MEMORIES] });

/** Something that is to be remembered. */
export interface Remembering {
  text: string;
  /** Made of the text by the server unless given. */
  name?: string | undefined;
  projectId: string | undefined;
  /** What has the name so far: it is replaced, and Undo brings it back. */
  before?: Memory | undefined;
}

/** Changes what is shown of a project: in its own list, and in that of all. */
function update(
  cache: Rehearsal,
  projectId: string | undefined,
  change: (items: Memory[]) => Memory[],
): void {
  for (const key of new Set(["", projectId ?? ""])) {
    cache.update<Memories>(listKey(key), ({ items }) => ({ items: change(items) }));
  }
}

const isSame = (one: Memory, { id, projectId }: Pick<Memory, "id" | "projectId">) =>
  one.id === id && one.projectId === projectId;

const say = ({ text, name }: Pick<Remembering, "text" | "name">, projectId: string | undefined) =>
  post(listPath(projectId), { text, ...(name && { name }) });

const forget = ({ id, projectId }: Memory) =>
  remove(`/api/v1/memories/${encodeURIComponent(id)}${queryOf({ projectId })}`);

/** What the server has not named yet has such a name. */
const NOT_YET = "new ";

/** Whether the server has not answered yet how it is called. */
export function isNotYet({ id }: Pick<Memory, "id">): boolean {
  return id.startsWith(NOT_YET);
}

/** Remembers something, in place of what had the name before. */
export function useRemember() {
  const { actor } = useSession();
  return useChange<Remembering, Memory>({
    what: ({ name }) => (name ? `Remember ${name}` : "Remember it"),
    send: (said) => say(said, said.projectId),
    expect: (cache, { text, name, projectId, before }) => {
      const now = serverTimestamp();
      const fresh: Memory = {
        id: name || `${NOT_YET}${now}`,
        projectId: projectId ?? "",
        text,
        createdBy: actor,
        updatedAt: now,
      };
      update(cache, projectId, (items) =>
        before ? items.map((one) => (isSame(one, before) ? fresh : one)) : [fresh, ...items],
      );
    },
    settle: () => [MEMORIES],
    done: (_, { id }) => `${id} is remembered`,
    undo: ({ before }, made) =>
      before ? say({ text: before.text, name: before.id }, before.projectId) : forget(made),
  });
}

/** Forgets something; Undo remembers it again under the same name. */
export function useForget() {
  return useChange<Memory, unknown>({
    what: ({ id }) => `Forget ${id}`,
    send: forget,
    expect: (cache, memory) =>
      update(cache, memory.projectId, (items) => items.filter((one) => !isSame(one, memory))),
    settle: () => [MEMORIES],
    done: ({ id }) => `${id} is forgotten`,
    undo: ({ id, text, projectId }) => say({ text, name: id }, projectId),
  });
}

/** Those that have all the words in their name or text, as the command line finds them. */
export function having(items: readonly Memory[], words: string): Memory[] {
  const wanted = wordsOf(words.toLowerCase());
  return items.filter(({ id, text }) => {
    const said = `${id} ${text}`.toLowerCase();
    return wanted.every((word) => said.includes(word));
  });
}

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "");

/** What is wrong with a name, as a sentence; none is right as well. */
export function nameFault(name: string): string | undefined {
  if (name.length > NAME_MAX_CHARS) return `Use at most ${NAME_MAX_CHARS} characters.`;
  if (name === "" || NAME.test(name)) return undefined;
  return "Use small letters, digits and hyphens, such as build-command.";
}

/** The list on the command line. */
export function listCli(words: string): string {
  return ["godel memories", ...wordsOf(words).map(shellWord)].join(" ");
}

/** The same on the command line. */
export function rememberCli({ text, name }: Pick<Remembering, "text" | "name">): string {
  const words = `godel remember ${shellWord(text || "TEXT")}`;
  return name ? `${words} --name ${shellWord(name)}` : words;
}
