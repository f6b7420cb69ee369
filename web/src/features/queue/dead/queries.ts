import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { post } from "../../../api/client";
import { list } from "../../../api/list";
import type { Task } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { shellWord } from "../../../ui/format";
import { DEAD, TASK_LISTS } from "../queries";

/** Which dead letters; an empty word stands for all. */
export interface DeadFilter {
  pool: string;
  error: string;
  title: string;
}

const PATH = "/api/v1/dead-letters";
/** The newest are enough to look at; a filter finds others. */
const MOST = 1_000;

/** The dead letters that a filter lets through. */
export function deadQuery(filter: DeadFilter) {
  return queryOptions({
    queryKey: [...DEAD, filter],
    queryFn: () => list(PATH, { filter: { ...filter }, most: MOST }),
    // While one types, the list before is better than none.
    placeholderData: keepPreviousData,
  });
}

/** Reads all that a filter lets through, however many there are. */
export async function readAllDead(filter: DeadFilter): Promise<readonly Task[]> {
  const most = Number.POSITIVE_INFINITY;
  return (await list(PATH, { filter: { ...filter }, most })).items;
}

/** Puts all dead letters back that a filter lets through. */
export function useReplay() {
  return useChange<DeadFilter, { replayed: number }>({
    what: () => "Replay the dead letters",
    send: (filter) => post(`${PATH}/replay`, said(filter)),
    settle: () => TASK_LISTS,
    done: (_, { replayed }) => `${replayed} in the queue again`,
  });
}

function said(filter: DeadFilter): Partial<DeadFilter> {
  return Object.fromEntries(Object.entries(filter).filter(([, word]) => word !== ""));
}

/** Whether anything is left out. */
export function isFiltered(filter: DeadFilter): boolean {
  return Object.keys(said(filter)).length > 0;
}

/** The filter as flags of the command line. */
export function deadFlags(filter: DeadFilter): string {
  return Object.entries(said(filter))
    .map(([name, word]) => ` --${name} ${shellWord(word)}`)
    .join("");
}

/** What is asked before all are replayed. No number: others may come before the answer, and go along. */
export function replayQuestion(filter: DeadFilter): string {
  return `Replay all dead letters${isFiltered(filter) ? " that match" : ""}?`;
}

/** How the same is replayed on the command line; without a filter it has to be said that all are meant. */
export function replayCli(filter: DeadFilter): string {
  return `godel dead replay${deadFlags(filter) || " --all"} --yes`;
}
