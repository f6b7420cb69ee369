import type { Bead, Convoy, ConvoyRun } from "../../api/types";
import { plural } from "../../ui/format";
import type { BeadGraph } from "../beads/graph";
import { etaOf, type LeftBead } from "./eta";
import { about, sayEta, sayHow, type Words } from "./etaWords";
import type { Past } from "./past";

/** How many agents the server takes if nothing is said. */
export const USUAL_AGENTS = 4;

/** What is known of a convoy when its end is asked for. */
export interface Known {
  convoy: Convoy;
  graph: BeadGraph;
  past: Past;
  /** `null` if it was never started. */
  run: ConvoyRun | null;
  /** Epoch milliseconds. */
  now: number;
}

/** The beads of a convoy that are not done. */
export function leftIn(convoy: Convoy, graph: BeadGraph): Bead[] {
  const beads = [...new Set(convoy.beads)].flatMap((id) => graph.byId.get(id) ?? []);
  return beads.filter(({ status }) => status !== "done");
}

/** Whether a convoy has an end that is yet to come. */
export function hasEnd(convoy: Convoy, graph: BeadGraph): boolean {
  return convoy.status === "active" && leftIn(convoy, graph).length > 0;
}

/** Whether somebody works on a convoy: its run, or agents that were sent to its beads one by one. */
export function isAtWork({ convoy, graph, past, run }: Omit<Known, "now">): boolean {
  return run?.state === "running" || workersOn(leftIn(convoy, graph), past) > 0;
}

/** What the head of a convoy says about its end. */
export function wordsFor(known: Known): Words {
  const { convoy, graph, past, run, now } = known;
  const left = leftIn(convoy, graph);
  if (left.every(({ status }) => status === "review")) {
    const title = `All that is left is in review: ${plural(left.length, "bead")}. How long that takes is up to who judges it.`;
    return { text: "waits for review", title };
  }
  const isRunning = isAtWork(known);
  // A run fills its places as beads become ready, so that there are few agents now says nothing about later.
  const agents = run?.state === "running" ? run.agents : workersOn(left, past);
  const wanted = isRunning ? agents : (run?.agents ?? USUAL_AGENTS);
  const found = reckon({ convoy, graph, past, now }, wanted);
  if (typeof found === "string") return { text: "no estimate yet", title: found };
  return sayEta(found.eta, { ...found, isRunning, now });
}

/** What the plan of a convoy says about its length, with so many agents. */
export function planWords(known: Omit<Known, "run">, agents: number): string {
  const found = reckon(known, Math.max(1, agents));
  if (typeof found === "string") return found;
  return `${capital(about(found.eta.seconds))}: ${sayHow(found.eta, found)}`;
}

/** The estimate and what it rests on, or why there is none. */
function reckon({ convoy, graph, past, now }: Omit<Known, "run">, agents: number) {
  const pace = past.paceOf(convoy);
  if (!pace)
    return "No agent has finished a bead of this project yet, so there is nothing to measure by.";
  const left = leftIn(convoy, graph);
  const eta = etaOf(
    left.map((bead) => asLeft(bead, graph, past, now)),
    agents,
    pace.meanSeconds,
  );
  if (!eta) return "Beads of it wait for each other and never start, so it has no end.";
  return { eta, pace, agents, outside: waitersOutside(left, graph) };
}

function asLeft(bead: Bead, graph: BeadGraph, past: Past, now: number): LeftBead {
  const work = past.works[bead.id];
  // A bead that was begun and left alone is not nearer to its end.
  const isOnItsWay = work !== undefined && (work.isWorking || bead.status === "review");
  return {
    id: bead.id,
    needs: graph.needsOf(bead).map(({ id }) => id),
    workedSeconds: isOnItsWay ? Math.max(0, (now - Date.parse(work.beganAt)) / 1000) : undefined,
  };
}

function workersOn(left: readonly Bead[], past: Past): number {
  return left.filter(({ id }) => past.works[id]?.isWorking).length;
}

/** How many beads wait for others that are not among them, and not done. */
function waitersOutside(left: readonly Bead[], graph: BeadGraph): number {
  const inside = new Set(left.map(({ id }) => id));
  const isOutside = ({ id, status }: Bead) => status !== "done" && !inside.has(id);
  return left.filter((bead) => graph.needsOf(bead).some(isOutside)).length;
}

function capital(text: string): string {
  return (text[0] ?? "").toUpperCase() + text.slice(1);
}
