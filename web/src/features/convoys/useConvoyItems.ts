import { useQuery } from "@tanstack/react-query";
import type { Bead, Convoy } from "../../api/types";
import { useForeignRefusal, useSession } from "../../roles/session";
import type { MenuItem } from "../../ui/Menu";
import { useProject } from "../projects/queries";
import { convoyQueries, useConvoyBeads } from "./queries";

/** What one must be allowed to put beads into a convoy. */
export const MAY_CHANGE_CONVOY = "convoy:update:own";

/** Tells why a convoy cannot be changed: some may change only those that they made. */
export function useForeignConvoy(): (convoy: Convoy) => string | undefined {
  const { actor } = useSession();
  const refusedOf = useForeignRefusal("convoy:update:team");
  return ({ name, createdBy }) => refusedOf({ name, isOwn: createdBy === actor });
}

/** The convoys that beads can be put into or taken out of, as lines of a menu; the last line makes a new one. */
export function useConvoyItems(onNew: () => void) {
  const { projectId } = useProject();
  const { data } = useQuery(convoyQueries.all(projectId));
  const change = useConvoyBeads();
  const foreign = useForeignConvoy();
  const convoysOf = (beads: readonly Bead[]) =>
    (data?.items ?? []).filter(({ beads: inside }) => beads.every(({ id }) => inside.includes(id)));
  const itemsFor = (beads: readonly Bead[]): MenuItem[] => {
    const ids = beads.map(({ id }) => id).join(" ");
    const projects = new Set(beads.map((bead) => bead.projectId));
    const open = (data?.items ?? []).filter(
      (convoy) => convoy.status !== "archived" && projects.has(convoy.projectId),
    );
    const refused = projects.size > 1 ? "They are of several projects." : undefined;
    const isIn = new Set(convoysOf(beads).map(({ id }) => id));
    return [
      ...open.map<MenuItem>((convoy) => ({
        id: convoy.id,
        title: convoy.name,
        icon: "convoys",
        can: MAY_CHANGE_CONVOY,
        refused: refused ?? foreign(convoy),
        isChosen: isIn.has(convoy.id),
        cli: `godel convoy ${isIn.has(convoy.id) ? "remove" : "add"} ${convoy.id} ${ids}`,
        run: () => {
          // Only what changes: Undo must not take out what was in it before.
          const isOut = (bead: Bead) => !convoy.beads.includes(bead.id);
          change.mutate(
            isIn.has(convoy.id)
              ? { convoy, beads, isIn: false }
              : { convoy, beads: beads.filter(isOut), isIn: true },
          );
        },
      })),
      {
        id: "new",
        title: "New convoy…",
        icon: "plus",
        can: "convoy:create:own",
        refused,
        cli: `godel convoy create "..." ${ids}`,
        run: onNew,
      },
    ];
  };
  return { itemsFor, convoysOf };
}
