import { keysOf } from "../../actions/keymap";
import type { Landing } from "../../api/types";
import { navigate } from "../../router/router";
import type { MenuItem } from "../../ui/Menu";
import { LANDING } from "./actions";
import { placeOf, STEPS, type Step, whither, whyNoStep } from "./order";
import { useMove, useRemove, useRetry, useRevert } from "./queries";
import { confirmRevert } from "./revert";
import { type Verb, whyNot } from "./stages";
import { useForeignLanding } from "./useForeignLanding";

const VERBS = ["retry", "remove", "revert"] as const;

/** Tells why a verb cannot be done to an entry: it makes no sense now, or the bead is another's. */
export function useWhyNot(): (verb: Verb, landing: Landing) => string | undefined {
  const foreign = useForeignLanding();
  return (verb, landing) => whyNot(verb, landing) ?? foreign(verb, landing);
}

/** What can be done to entries: one call for menus, keys and the palette. */
export function useLandingActs() {
  const changes = { retry: useRetry(), remove: useRemove(), revert: useRevert() };
  const refusedOf = useWhyNot();
  const act = async (verb: Verb, landing: Landing) => {
    if (refusedOf(verb, landing) !== undefined) return;
    if (verb === "revert" && !(await confirmRevert(landing))) return;
    changes[verb].mutate(landing);
  };
  const move = useMove();
  const step = (which: Step, entry: Landing, landings: readonly Landing[]) => {
    const to = whither(which, entry, landings);
    if (to) move.mutate({ entry, to, from: placeOf(entry, landings) });
  };
  const menuOf = (landing: Landing, landings: readonly Landing[]): MenuItem[] => [
    {
      id: "review",
      title: "Open the review",
      icon: "review",
      cli: `godel review show ${landing.bead}`,
      run: () => navigate(`/review/${encodeURIComponent(landing.bead)}`),
    },
    ...STEPS.map((which) => ({
      id: which,
      title: LANDING[which].title,
      icon: LANDING[which].icon,
      keys: keysOf(LANDING[which])[0],
      cli: cliOfStep(which, landing, landings),
      can: LANDING[which].can,
      refused: whyNoStep(which, landing, landings),
      run: () => step(which, landing, landings),
    })),
    ...VERBS.map((verb) => ({
      id: verb,
      title: LANDING[verb].title,
      icon: LANDING[verb].icon,
      keys: keysOf(LANDING[verb])[0],
      cli: cliOf(verb, landing),
      can: LANDING[verb].can,
      destructive: LANDING[verb].destructive,
      refused: refusedOf(verb, landing),
      run: () => act(verb, landing),
    })),
  ];
  return { act, step, menuOf };
}

/** A move on the command line. */
export function cliOfStep(which: Step, landing: Landing, landings: readonly Landing[]): string {
  const to = whither(which, landing, landings);
  const where = to?.before ? `--before ${to.before}` : to?.first ? "--first" : "--last";
  return `godel land move ${landing.bead} ${where}`;
}

/** The same on the command line. */
export function cliOf(verb: Verb, { bead }: Landing): string {
  return `godel land ${verb} ${bead}`;
}
