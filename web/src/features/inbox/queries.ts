import { queryOptions, useQuery } from "@tanstack/react-query";
import { post } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Notice } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";

const KEY = ["inbox"] as const;
const OPEN = [...KEY, "open"] as const;

/** What waits for a person, or that and what was answered; the newest first. */
export const inboxQuery = (shown: "open" | "all") =>
  queryOptions({
    queryKey: [...KEY, shown],
    queryFn: () =>
      shown === "open"
        ? list<Notice>("/api/v1/inbox")
        : list<Notice>("/api/v1/inbox", { filter: { state: "all" }, most: MOST_ANSWERED }),
  });

/** Nobody reads further back here. */
const MOST_ANSWERED = 200;

// A verb on an agent closes what it had asked, so more than its questions count.
onLive({
  on: [
    "agent:needs:person",
    "agent:answered",
    "agent:state",
    "agent:pause",
    "agent:resume",
    "agent:restart",
    "agent:kill",
    "agent:complete",
    "agent:delete",
    "review:*",
    "landing:*",
    "bead:*",
  ],
  invalidate: () => [KEY],
});

/** How many things wait for a person; undefined until it is known. */
export function useInboxCount(): number | undefined {
  return useQuery(inboxQuery("open")).data?.items.length;
}

/** What an agent waits for. */
export function useNoticesOf(agentId: string): readonly Notice[] {
  const { data } = useQuery(inboxQuery("open"));
  return data?.items.filter((notice) => notice.agentId === agentId) ?? [];
}

/** An answer; none lets the agent decide, or puts the notice aside. */
export interface Answer {
  notice: Notice;
  answer?: string;
}

/** Answers a notice; it leaves the inbox at once. */
export function useAnswer() {
  return useChange<Answer, Notice>({
    what: ({ notice }) => `Answer ${notice.agent ?? "the notice"}`,
    send: ({ notice, answer }) =>
      post<Notice>(`/api/v1/inbox/${encodeURIComponent(notice.id)}/answer`, { answer }),
    expect: (cache, { notice }) =>
      cache.update<Listing<Notice>>(OPEN, (listing) => ({
        ...listing,
        items: listing.items.filter((one) => one.id !== notice.id),
      })),
    settle: () => [KEY],
    done: ({ notice, answer }) =>
      answer === undefined
        ? `${notice.agent ?? "It"} goes on without an answer`
        : `${notice.agent ?? "It"} was told: ${answer}`,
  });
}

/** Lets the agent of a failure begin anew; that closes the notice as well. */
export function useRestart() {
  return useChange<Notice, unknown>({
    what: (notice) => `Restart ${notice.agent ?? "the agent"}`,
    send: (notice) =>
      post(`/api/v1/agents/${encodeURIComponent(notice.agentId ?? "")}/restart`, {}),
    expect: (cache, notice) =>
      cache.update<Listing<Notice>>(OPEN, (listing) => ({
        ...listing,
        items: listing.items.filter((one) => one.id !== notice.id),
      })),
    settle: () => [KEY],
    done: (notice) => `${notice.agent ?? "The agent"} begins anew in the same worktree`,
  });
}
