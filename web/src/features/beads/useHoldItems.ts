import type { Bead } from "../../api/types";
import type { MenuItem } from "../../ui/Menu";
import { isHeld } from "./claims";
import { useAskAndTakeBack, useClaimBead } from "./holding";
import { useForeign } from "./useForeign";

/** To claim a bead, and to take it back from who holds it, as lines of a menu. */
export function useHoldItems(): (bead: Bead) => MenuItem[] {
  const claim = useClaimBead();
  const takeBack = useAskAndTakeBack();
  const foreign = useForeign();
  return (bead) => {
    const holder = isHeld(bead) ? (bead.agent ?? "somebody") : undefined;
    const isOver = bead.status === "done" ? "It is done." : undefined;
    return [
      {
        id: "claim",
        title: "Claim for 30 minutes",
        icon: "hand",
        can: "bead:execute:own",
        refused: foreign([bead]) ?? isOver ?? (holder && `${holder} holds it.`),
        cli: `godel bead claim ${bead.id}`,
        run: () => claim.mutate(bead),
      },
      {
        id: "take-back",
        title: holder ? `Take it back from ${holder}` : "Take it back by force",
        icon: "lock",
        can: "bead:execute:own",
        destructive: true,
        refused: foreign([bead]) ?? (holder ? undefined : "Nobody holds it."),
        cli: `godel bead release ${bead.id} --force`,
        run: () => takeBack(bead),
      },
    ];
  };
}
