import { useQuery } from "@tanstack/react-query";
import type { Agent } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { setParams, useParam } from "../../../router/router";
import { Drawer } from "../../../ui/Drawer";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { agentQueries } from "../queries";
import { LetterDrawer } from "./LetterDrawer";

const PARAM = "letters";

/** Opens the letters to an agent; the page of agents has a host that shows them. */
export function LettersButton({ agent }: { agent: Agent }) {
  return (
    <Guarded
      size="small"
      can="agent:read:team"
      cli={`godel mail list --agent ${agent.label}`}
      onClick={() => setParams({ [PARAM]: agent.id })}
    >
      <Icon name="inbox" size={14} />
      Letters
    </Guarded>
  );
}

/** Shows the letters to the agent that the address names. */
export function LetterHost() {
  const [id, setId] = useParam(PARAM);
  return id === undefined ? null : <Letters key={id} id={id} onClose={() => setId(undefined)} />;
}

function Letters({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(agentQueries.one(id));
  if (query.data) return <LetterDrawer agent={query.data} onClose={onClose} />;
  return (
    <Drawer title="Letters" onClose={onClose}>
      <Loaded query={query} what="The agent" skeleton={<SkeletonRows rows={4} height={64} />}>
        {() => null}
      </Loaded>
    </Drawer>
  );
}
