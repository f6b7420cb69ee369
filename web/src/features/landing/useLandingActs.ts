import { keysOf } from "../../actions/keymap";
import type { Landing } from "../../api/types";
import { confirm } from "../../change/confirm";
import { navigate } from "../../router/router";
import type { MenuItem } from "../../ui/Menu";
import { LANDING } from "./actions";
import { useRemove, useRetry, useRevert } from "./queries";
import { type Verb, whyNot } from "./stages";

const VERBS = ["retry", "remove", "revert"] as const;

/** What can be done to entries: one call for menus, keys and the palette. */
export function useLandingActs() {
  const changes = { retry: useRetry(), remove: useRemove(), revert: useRevert() };
  const act = async (verb: Verb, landing: Landing) => {
    if (whyNot(verb, landing) !== undefined) return;
    if (verb === "revert" && !(await confirmRevert(landing))) return;
    changes[verb].mutate(landing);
  };
  const menuOf = (landing: Landing): MenuItem[] => [
    {
      id: "review",
      title: "Open the review",
      icon: "review",
      cli: `godel review show ${landing.bead}`,
      run: () => navigate(`/review/${encodeURIComponent(landing.bead)}`),
    },
    ...VERBS.map((verb) => ({
      id: verb,
      title: LANDING[verb].title,
      icon: LANDING[verb].icon,
      keys: keysOf(LANDING[verb])[0],
      cli: cliOf(verb, landing),
      can: LANDING[verb].can,
      destructive: LANDING[verb].destructive,
      refused: whyNot(verb, landing),
      run: () => act(verb, landing),
    })),
  ];
  return { act, menuOf };
}

/** The same on the command line. */
export function cliOf(verb: Verb, { bead }: Landing): string {
  return `godel land ${verb} ${bead}`;
}

function confirmRevert(landing: Landing): Promise<boolean> {
  return confirm({
    title: `Take back ${landing.bead}?`,
    body: `A commit on ${landing.target ?? "the branch"} undoes what it brought, and the bead is open again. The gates must pass without it.`,
    act: `Take back ${landing.bead}`,
    cli: cliOf("revert", landing),
  });
}
