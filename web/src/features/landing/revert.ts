import type { Bead, Landing } from "../../api/types";
import { confirm } from "../../change/confirm";
import type { MenuItem } from "../../ui/Menu";
import { fieldOf } from "../beads/looks";
import { useForeign } from "../beads/useForeign";
import { LANDING } from "./actions";
import { useRevert } from "./queries";

/** What is taken back: a bead, and the branch that it landed in. */
export type Brought = Pick<Landing, "bead" | "projectId" | "target">;

/** Asks before a commit takes back what a bead brought. */
export function confirmRevert({ bead, target }: Brought): Promise<boolean> {
  return confirm({
    title: `Take back ${bead}?`,
    body: `A commit on ${target ?? "the branch"} undoes what it brought, and the bead is open again. The gates must pass without it.`,
    act: `Take back ${bead}`,
    cli: revertCli({ bead }),
  });
}

/** To take back what a bead brought, as a line of its menus; what never landed says so. */
export function useRevertItem(): (bead: Bead) => MenuItem {
  const revert = useRevert();
  const foreign = useForeign();
  return (bead) => {
    const { id, projectId, landed } = bead;
    const brought = { bead: id, projectId, target: fieldOf(landed, "branch") ?? null };
    return {
      id: "revert",
      title: LANDING.revert.title,
      icon: LANDING.revert.icon,
      can: LANDING.revert.can,
      destructive: LANDING.revert.destructive,
      refused: whyNoRevert(bead) ?? foreign([bead]),
      cli: revertCli(brought),
      run: async () => {
        if (await confirmRevert(brought)) revert.mutate(brought);
      },
    };
  };
}

function revertCli({ bead }: Pick<Brought, "bead">): string {
  return `godel land revert ${bead}`;
}

/** Why there is nothing to take back. */
function whyNoRevert({ id, status, landed }: Bead): string | undefined {
  if (status !== "done") return `${id} is not done.`;
  return landed == null ? `${id} was closed without a change that landed.` : undefined;
}
