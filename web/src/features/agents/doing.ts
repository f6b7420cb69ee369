import { useQuery } from "@tanstack/react-query";
import type { AgentLine } from "../../api/types";
import { refOf } from "../../realtime/items";
import { onLive } from "../../realtime/rules";
import { asText } from "./lines";

const KEY = ["agent-doing"] as const;
const MOST_CHARS = 140;

type Doing = Readonly<Record<string, string>>;

onLive({
  on: ["agent:tool:call", "agent:text", "agent:commit"],
  patch: (client, events) => {
    const fresh: Record<string, string> = {};
    for (const event of events) {
      const id = refOf(event, "agentId");
      const text = asText({ ...event, seq: event.sequence, at: event.timestamp } as AgentLine);
      if (id !== undefined) fresh[id] = text.slice(0, MOST_CHARS);
    }
    client.setQueryData<Doing>(KEY, (doing) => ({ ...doing, ...fresh }));
  },
});

/** What an agent did last, as far as this page has heard; told by events only. */
export function useDoing(id: string): string | undefined {
  const { data } = useQuery<Doing, Error, string | undefined>({
    queryKey: KEY,
    queryFn: () => ({}),
    enabled: false,
    select: (doing) => doing[id],
  });
  return data;
}
