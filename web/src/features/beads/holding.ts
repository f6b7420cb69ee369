import { ApiError, post, remove } from "../../api/client";
import type { Listing } from "../../api/list";
import type { Bead, BeadClaim } from "../../api/types";
import { confirm } from "../../change/confirm";
import { useChange } from "../../change/useChange";
import { useSession } from "../../roles/session";
import { plural } from "../../ui/format";
import { each, expectBeads, nameOf, settleOf } from "./changes";
import { forgetClaim, keepClaim } from "./claims";
import { BEAD_LISTS, beadPath } from "./queries";

/** Claims a bead for whoever looks at the page: nobody else gets it until the lease ends. */
export function useClaimBead() {
  const { actor } = useSession();
  return useChange<Bead, BeadClaim>({
    what: (bead) => `Claim ${nameOf([bead])}`,
    send: async (bead) => {
      const claim = await post(beadPath(bead, "/claim"), { agentId: actor });
      keepClaim(bead, claim.token);
      return claim;
    },
    expect: (cache, bead) =>
      expectBeads(cache, [bead], () => ({ agent: actor, status: "in-progress" })),
    settle: (bead) => settleOf([bead]),
    done: (bead) => `${nameOf([bead])} is yours until its lease ends`,
    undo: async (bead, { token }) => {
      await post(beadPath(bead, "/release"), { token });
      forgetClaim(bead);
    },
  });
}

/** Takes beads from whoever holds them, whether they like it or not. */
export function useTakeBack() {
  return useChange<readonly Bead[], Bead[]>({
    what: (beads) => `Take back ${nameOf(beads)}`,
    send: (beads) =>
      each(beads, async (bead) => {
        const free = await post(beadPath(bead, "/release"), { force: true });
        forgetClaim(bead);
        return free;
      }),
    expect: (cache, beads) =>
      expectBeads(cache, beads, ({ status }) => ({
        agent: null,
        lease: null,
        status: status === "in-progress" ? "open" : status,
      })),
    settle: settleOf,
    done: (beads) => `${nameOf(beads)}: nobody holds it any more`,
  });
}

/** Asks, and takes a bead from whoever holds it. */
export function useAskAndTakeBack() {
  const takeBack = useTakeBack();
  return async (bead: Bead) => {
    const isSure = await confirm({
      title: `Take ${bead.id} from ${bead.agent ?? "its holder"}?`,
      body: "Its claim ends at once, the bead is open again and nobody's. An agent that works on it is not ended, but can no longer finish it.",
      act: "Take it back",
      cli: `godel bead release ${bead.id} --force`,
    });
    if (isSure) takeBack.mutate([bead]);
  };
}

/** Beads that were deleted on this page. */
const deletedHere = new Set<string>();

/** Whether the reader deleted a bead: it goes from a list at once, however still that is kept. */
export function isDeletedHere({ id }: { id: string }): boolean {
  return deletedHere.has(id);
}

async function deleteOne(bead: Bead): Promise<void> {
  deletedHere.add(bead.id);
  try {
    await remove(beadPath(bead));
  } catch (error) {
    // Gone is gone: of many, a second try must not stop at those that the first one deleted.
    if (error instanceof ApiError && error.status === 404) return;
    deletedHere.delete(bead.id);
    throw error;
  }
}

/** Deletes beads; they stay in the history of git, but nothing here brings them back. */
export function useDeleteBeads() {
  return useChange<readonly Bead[], unknown[]>({
    what: (beads) => `Delete ${nameOf(beads)}`,
    send: (beads) => each(beads, deleteOne),
    expect: (cache, beads) => {
      const gone = new Set(beads.map(({ id }) => id));
      cache.update<Listing<Bead>>(BEAD_LISTS, (listing) => ({
        ...listing,
        items: listing.items.filter(({ id }) => !gone.has(id)),
      }));
    },
    settle: () => [BEAD_LISTS, ["convoys"]],
    done: (beads) =>
      beads.length === 1 ? `${nameOf(beads)} was deleted` : `${nameOf(beads)} were deleted`,
  });
}

/** Asks, and deletes beads. Tells whether it was done. */
export function useAskAndDelete() {
  const erase = useDeleteBeads();
  return async (beads: readonly Bead[]): Promise<boolean> => {
    const [first] = beads;
    const isOne = beads.length === 1 && first !== undefined;
    const isSure = await confirm({
      title: isOne ? `Delete ${first.id}?` : `Delete ${plural(beads.length, "bead")}?`,
      body: isOne
        ? `“${first.title}” goes away for everybody. It stays in the history, and its commits and branches stay as they are.`
        : "They go away for everybody. They stay in the history, and their commits and branches stay as they are.",
      act: isOne ? "Delete the bead" : "Delete them",
      cli: beads.map(({ id }) => `godel bead delete ${id} --yes`).join(" && "),
    });
    if (isSure) erase.mutate(beads);
    return isSure;
  };
}
