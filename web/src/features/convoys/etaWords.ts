import { plural, shortTime } from "../../ui/format";
import type { Eta } from "./eta";
import type { Pace } from "./past";

/** What the head of a convoy says, and what it adds on hover. */
export interface Words {
  text: string;
  title: string;
}

/** What an estimate rests on, beside the estimate itself. */
export interface Basis {
  pace: Pace;
  /** How many agents work at once. */
  agents: number;
  /** Whether somebody is at work. */
  isRunning: boolean;
  /** How many of the beads wait for beads that are not in the convoy. */
  outside: number;
  /** Epoch milliseconds. */
  now: number;
}

/** The time left in words, and how it was reckoned. */
export function sayEta(eta: Eta, basis: Basis): Words {
  const how = sayHow(eta, basis);
  if (!basis.isRunning) return { text: `${about(eta.seconds)} if started`, title: how };
  if (eta.seconds === 0) return { text: "longer than usual", title: how };
  const end = new Date(basis.now + eta.seconds * 1000).toISOString();
  return { text: `${about(eta.seconds)} left`, title: `Done around ${shortTime(end)}. ${how}` };
}

/** How an estimate was reckoned, as sentences. */
export function sayHow(eta: Eta, { pace, agents, outside }: Omit<Basis, "isRunning" | "now">) {
  const finished = plural(pace.beads, "finished bead");
  const whose = pace.isOwn
    ? finished
    : `none of it is finished yet, but ${finished} of its project`;
  const sentences = [
    `${plural(eta.beads, "bead")} left in ${plural(eta.waves, "wave")}, up to ${plural(agents, "agent")} at once; ` +
      `${whose} took ${span(pace.meanSeconds)} on average, from the agent’s start to the landing.`,
    eta.late > 0 && `${plural(eta.late, "bead")} took longer than that already.`,
    outside > 0 &&
      `${plural(outside, "bead")} also ${outside === 1 ? "waits" : "wait"} for what is not in the convoy; that is not counted.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `about 25 min`; nobody needs to know seconds beforehand. */
export function about(seconds: number): string {
  return seconds < MINUTE ? "under 1 min" : `about ${span(seconds)}`;
}

/** A length of time as people say it: `42 s`, `25 min`, `3 h`, `4 days`. */
export function span(seconds: number): string {
  if (seconds < MINUTE) return `${Math.max(1, Math.floor(seconds))} s`;
  // 100 minutes are said in minutes: rounded to hours they would be a third longer.
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.round(seconds / HOUR)} h`;
  return plural(Math.round(seconds / DAY), "day");
}
