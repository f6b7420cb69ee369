import { serverNow } from "../../api/clock";
import type { Bead } from "../../api/types";
import { shortTime } from "../../ui/format";
import type { MenuItem } from "../../ui/Menu";
import { MAY_CHANGE } from "./actions";
import { nameOf, useEditBeads } from "./changes";
import { useForeign } from "./useForeign";

/** Who puts something off by days wants it in the morning. */
const MORNING_HOUR = 8;

/** How far a bead is put off with one choice: so many days. */
export const SPANS = [
  [1, "Tomorrow"],
  [3, "In 3 days"],
  [7, "In a week"],
] as const;

/** Whether a bead is put off at this moment. */
export function isPutOff({ defer }: Pick<Bead, "defer">, now = serverNow()): boolean {
  return defer ? Date.parse(defer) > now : false;
}

/** The morning of a later day, in the reader's time zone. */
export function morningIn(days: number, now: number): string {
  const at = new Date(now);
  // By the calendar, not by hours: a day on which the clocks change is shorter or longer.
  at.setDate(at.getDate() + days);
  at.setHours(MORNING_HOUR, 0, 0, 0);
  return at.toISOString();
}

/** What is wrong with a date and time that was typed, as a sentence. */
export function dateFault(text: string, now: number): string | undefined {
  const at = Date.parse(text);
  if (Number.isNaN(at)) return "Choose a date and a time first.";
  return at > now ? undefined : "Choose a time that is still to come.";
}

/** The same on the command line; without a time it is taken back. */
export function deferCli(beads: readonly Pick<Bead, "id">[], until: string | undefined): string {
  const how = until === undefined ? "--clear" : `--until ${until.replace(/\.\d+Z$/, "Z")}`;
  return beads.map(({ id }) => `godel bead defer ${id} ${how}`).join(" && ");
}

/** Puts beads off until a time, or no longer. */
export function usePutOff(): (beads: readonly Bead[], until: string | undefined) => void {
  const edit = useEditBeads();
  return (beads, until) =>
    edit.mutate({
      beads,
      change: { defer: until ?? "" },
      what: "the time to begin",
      done:
        until === undefined
          ? `${nameOf(beads)}: no longer put off`
          : `${nameOf(beads)}: put off until ${shortTime(until)}`,
    });
}

/** To put a bead off, which has to be asked about, and to take that back, as lines of a menu. */
export function useDeferItems(onAsk: () => void): (bead: Bead) => MenuItem[] {
  const putOff = usePutOff();
  const foreign = useForeign();
  return (bead) => {
    const shared = { icon: "clock", can: MAY_CHANGE } as const;
    return [
      {
        ...shared,
        id: "defer",
        title: "Put off…",
        refused: foreign([bead]) ?? (bead.status === "done" ? "It is done." : undefined),
        cli: `godel bead defer ${bead.id} --until 3d`,
        run: onAsk,
      },
      {
        ...shared,
        id: "defer-clear",
        title: "No longer put off",
        refused: foreign([bead]) ?? (isPutOff(bead) ? undefined : "It is not put off."),
        cli: deferCli([bead], undefined),
        run: () => putOff([bead], undefined),
      },
    ];
  };
}
