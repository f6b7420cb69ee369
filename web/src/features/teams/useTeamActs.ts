import { useAction } from "../../actions/actions";
import { keysOf } from "../../actions/keymap";
import type { Team } from "../../api/types";
import { confirm } from "../../change/confirm";
import { currentPlace, setParams } from "../../router/router";
import type { MenuItem } from "../../ui/Menu";
import { TEAM, TEAM_ACTS, type TeamAct } from "./actions";
import { useDeleteTeam, useTeamVerb } from "./queries";
import { cliOf, whyNot } from "./states";

/** What can be done to a team: one call for buttons, menus, keys and the palette. */
export function useTeamActs() {
  const erase = useDeleteTeam();
  const verbs = {
    start: useTeamVerb("start"),
    pause: useTeamVerb("pause"),
    resume: useTeamVerb("resume"),
    complete: useTeamVerb("complete"),
    cancel: useTeamVerb("cancel"),
  };
  const act = async (which: TeamAct, team: Team) => {
    if (whyNot(which, team) !== undefined || !(await isSure(which, team))) return;
    if (which === "update") setParams({ edit: team.id });
    else if (which === "delete") {
      closePanel(team);
      erase.mutate(team);
    } else verbs[which].mutate(team);
  };
  const menuOf = (team: Team): MenuItem[] =>
    TEAM_ACTS.map((which) => ({
      id: which,
      title: TEAM[which].title,
      icon: TEAM[which].icon,
      keys: keysOf(TEAM[which])[0],
      cli: cliOf(which, team),
      can: TEAM[which].can,
      destructive: "destructive" in TEAM[which],
      refused: whyNot(which, team),
      run: () => act(which, team),
    }));
  return { act, menuOf };
}

/** What is gone needs no panel. */
function closePanel({ id }: Team): void {
  if (new URLSearchParams(currentPlace().search).get("team") === id) {
    setParams({ team: undefined });
  }
}

/** The keys of the team under the cursor. */
export function useTeamKeys(
  here: Team | undefined,
  act: ReturnType<typeof useTeamActs>["act"],
): void {
  for (const which of TEAM_ACTS) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the list never changes
    useAction(TEAM[which], () => here && act(which, here), {
      title: here && `${TEAM[which].title} ${here.name}`,
      cli: here && cliOf(which, here),
      disabled: here && whyNot(which, here),
      when: here !== undefined,
    });
  }
}

/** Asks before what cannot be taken back; a name is typed where something is gone for good. */
async function isSure(which: TeamAct, team: Team): Promise<boolean> {
  const { name } = team;
  const cli = cliOf(which, team);
  if (which === "complete") {
    const body = "Its job is said to be done. What still runs is called off.";
    return confirm({ title: `Complete ${name}?`, body, act: "Complete it", cli });
  }
  if (which === "cancel") {
    const body = "What runs is called off, and it cannot be started again. What was done stays.";
    return confirm({ title: `Cancel ${name}?`, body, act: "Cancel the team", cli });
  }
  if (which === "delete") {
    const body = "What it was asked, what came of it and its numbers are gone. Its run stays.";
    return confirm({ title: `Delete ${name}?`, body, word: name, act: "Delete the team", cli });
  }
  return true;
}
