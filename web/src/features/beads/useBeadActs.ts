import { useQuery } from "@tanstack/react-query";
import type { Bead } from "../../api/types";
import { useSession } from "../../roles/session";
import { shellWord, words } from "../../ui/format";
import type { MenuItem } from "../../ui/Menu";
import { agentQueries } from "../agents/queries";
import { isAlive } from "../agents/views";
import { MAY_CHANGE } from "./actions";
import { useAssignBeads, useEditBeads, useMoveBeads } from "./changes";
import {
  PRIORITIES,
  PRIORITY_LOOKS,
  STATUS_LOOKS,
  STATUSES,
  statusOf,
  TYPE_ICONS,
  TYPES,
} from "./looks";
import { useForeign } from "./useForeign";

/** Commands that take one bead are told for each. */
const cliFor = (beads: readonly Bead[], tail: (id: string) => string) =>
  beads.map(({ id }) => `godel bead ${tail(id)}`).join(" && ");

const same = (beads: readonly Bead[], value: (bead: Bead) => string | null | undefined) => {
  const [first] = beads;
  if (!first || beads.some((bead) => value(bead) !== value(first))) return undefined;
  return value(first);
};

/** Tells for lines of menus whether these beads may be changed. */
function useAllowed() {
  const foreign = useForeign();
  return (beads: readonly Bead[]): Pick<MenuItem, "can" | "refused"> => ({
    can: MAY_CHANGE,
    refused: foreign(beads),
  });
}

/** What can be done on a card: all that needs no agents, who change so often that a board would always be drawn. */
export function useCardActs() {
  const move = useMoveBeads();
  const assign = useAssignBeads();
  const { actor } = useSession();
  const foreign = useForeign();
  const allowed = useAllowed();
  const statusItems = (beads: readonly Bead[]): MenuItem[] =>
    STATUSES.map((status) => ({
      id: status,
      title: STATUS_LOOKS[status].title,
      icon: STATUS_LOOKS[status].icon,
      ...allowed(beads),
      isChosen: same(beads, statusOf) === status,
      cli: cliFor(beads, (id) => `status ${id} ${status}`),
      run: () => move.mutate({ beads, status }),
    }));
  const assignToMe = (beads: readonly Bead[]) => {
    if (foreign(beads) === undefined) assign.mutate({ beads, agent: actor });
  };
  const assignCli = ({ id }: Bead) => `godel bead assign ${id} --agent ${shellWord(actor)}`;
  return { statusItems, assignToMe, assignCli };
}

/** What can be done to beads as lines of menus: one for panels, cards, cells and the bar of many. */
export function useBeadActs() {
  const onCard = useCardActs();
  const edit = useEditBeads();
  const assign = useAssignBeads();
  const { actor } = useSession();
  const agents = useQuery(agentQueries.all());
  const allowed = useAllowed();
  const priorityItems = (beads: readonly Bead[]): MenuItem[] =>
    PRIORITIES.map((priority) => ({
      id: priority,
      title: PRIORITY_LOOKS[priority].title,
      ...allowed(beads),
      isChosen: same(beads, (bead) => bead.priority) === priority,
      cli: cliFor(beads, (id) => `update ${id} --priority ${priority}`),
      run: () => edit.mutate({ beads, change: { priority }, what: "the priority" }),
    }));
  const typeItems = (beads: readonly Bead[]): MenuItem[] =>
    TYPES.map((type) => ({
      id: type,
      title: words(type),
      icon: TYPE_ICONS[type],
      ...allowed(beads),
      isChosen: same(beads, (bead) => bead.type) === type,
      cli: cliFor(beads, (id) => `update ${id} --type ${type}`),
      run: () => edit.mutate({ beads, change: { type }, what: "the type" }),
    }));
  const agentItems = (beads: readonly Bead[]): MenuItem[] => {
    const alive = (agents.data?.items ?? []).filter(isAlive).map(({ label }) => label);
    const held = same(beads, (bead) => bead.agent);
    const names = [...new Set([actor, ...alive])];
    return [
      {
        id: "nobody",
        title: "Nobody",
        icon: "circle",
        ...allowed(beads),
        isChosen: held === null || (held === undefined && beads.every(({ agent }) => !agent)),
        cli: cliFor(beads, (id) => `release ${id}`),
        run: () => assign.mutate({ beads: beads.filter(({ agent }) => agent), agent: undefined }),
      },
      ...names.map<MenuItem>((agent) => ({
        id: agent,
        title: agent === actor ? `Me (${actor.replace(/^user:/, "")})` : agent,
        icon: agent === actor ? "person" : "agents",
        ...allowed(beads),
        isChosen: held === agent,
        cli: cliFor(beads, (id) => `assign ${id} --agent ${agent}`),
        run: () => assign.mutate({ beads, agent }),
      })),
    ];
  };
  return { ...onCard, priorityItems, typeItems, agentItems };
}
