import { useAction } from "../../../actions/actions";
import { keysOf } from "../../../actions/keymap";
import type { Worker } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { useRefusal } from "../../../roles/session";
import { plural, shellWord } from "../../../ui/format";
import type { MenuItem } from "../../../ui/Menu";
import { WORKER } from "../actions";
import { usePauseWorker, useRemoveWorker } from "./queries";

export type WorkerVerb = keyof typeof WORKER;

/** Why a verb makes no sense for a worker now. */
export function whyNot(verb: WorkerVerb, { status }: Worker): string | undefined {
  if (status === "offline") return "It is gone already.";
  if (verb === "pause" && status === "paused") return "It is paused already.";
  if (verb === "resume" && status !== "paused") return "It is not paused.";
  return undefined;
}

/** The same on the command line. */
export function workerCli(verb: WorkerVerb, { name }: Worker): string {
  return `godel worker ${verb} ${shellWord(name)}`;
}

/** What can be done with workers: one call for buttons, menus and keys. */
export function useWorkerActs(onRemoved?: (id: string) => void) {
  const pause = usePauseWorker();
  const takeOff = useRemoveWorker();
  const act = async (verb: WorkerVerb, worker: Worker) => {
    if (whyNot(verb, worker) !== undefined) return;
    if (verb !== "remove") return pause.mutate(worker);
    const isSure = await confirm({
      title: `Remove ${worker.name}?`,
      body: `${held(worker)} One that still runs comes back under a new id: to end it, end its process.`,
      act: "Remove it",
      cli: workerCli("remove", worker),
    });
    if (!isSure) return;
    onRemoved?.(worker.id);
    takeOff.mutate(worker);
  };
  const menuOf = (worker: Worker): MenuItem[] =>
    (Object.keys(WORKER) as WorkerVerb[]).map((verb) => ({
      id: verb,
      title: WORKER[verb].title,
      icon: WORKER[verb].icon,
      keys: keysOf(WORKER[verb])[0],
      can: WORKER[verb].can,
      destructive: WORKER[verb].destructive,
      cli: workerCli(verb, worker),
      refused: whyNot(verb, worker),
      run: () => act(verb, worker),
    }));
  return { act, menuOf };
}

/** Lets the keys be about the worker under the cursor. */
export function useWorkerKeys(
  worker: Worker | undefined,
  act: (verb: WorkerVerb, worker: Worker) => void,
): void {
  const denied = useRefusal("task:execute:team");
  const options = (verb: WorkerVerb) => ({
    when: worker !== undefined,
    title: `${WORKER[verb].title} ${worker?.name ?? ""}`,
    cli: worker && workerCli(verb, worker),
    disabled: denied ?? (worker && whyNot(verb, worker)),
  });
  useAction(WORKER.pause, () => worker && act("pause", worker), options("pause"));
  useAction(WORKER.resume, () => worker && act("resume", worker), options("resume"));
  useAction(WORKER.remove, () => worker && act("remove", worker), options("remove"));
}

function held({ load }: Worker): string {
  if (load === 0) return "It has nothing in its hands.";
  return `The ${plural(load, "task")} that it has ${load === 1 ? "is" : "are"} given to others.`;
}
