import { queryOptions, useQuery } from "@tanstack/react-query";
import { get, post } from "../../api/client";
import { type Listing, list } from "../../api/list";
import type { Notice, NoticeCount } from "../../api/types";
import { type Rehearsal, useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import { writeDraft } from "../../ui/useDraft";
import { isAsking, whose } from "./kinds";

const KEY = ["inbox"] as const;
const OPEN = [...KEY, "open"] as const;

/** What waits for a person, or that and what was answered; the newest first. */
export const inboxQuery = (shown: "open" | "all") =>
  queryOptions({
    queryKey: [...KEY, shown],
    queryFn: () =>
      shown === "open"
        ? list("/api/v1/inbox")
        : list("/api/v1/inbox", { filter: { state: "all" }, most: MOST_ANSWERED }),
  });

/** How many wait, however many there are. */
const countQuery = queryOptions({
  queryKey: [...KEY, "count"],
  queryFn: () => get("/api/v1/inbox/count"),
});

/** Nobody reads further back here. */
const MOST_ANSWERED = 200;

// Whatever raises or closes a notice tells of it.
onLive({
  on: [
    "agent:needs:person",
    "agent:answered",
    "agent:notice:closed",
    "agent:delete",
    "landing:*",
    "notice:closed",
    "workflow:approval:*",
    "budget:*",
    "pool:alert",
    "pool:calm",
  ],
  invalidate: () => [KEY],
});

/** How many things wait for a person; undefined until it is known. */
export function useInboxCount(): number | undefined {
  return useQuery(countQuery).data?.open;
}

/** What an agent waits for. */
export function useNoticesOf(agentId: string): readonly Notice[] {
  const { data } = useQuery(inboxQuery("open"));
  return data?.items.filter((notice) => notice.agentId === agentId) ?? [];
}

/** Takes a notice out of the inbox and off the count before the server has answered. */
function leave(cache: Rehearsal, notice: Notice): void {
  cache.update<Listing<Notice>>(OPEN, (listing) => ({
    ...listing,
    items: listing.items.filter((one) => one.id !== notice.id),
  }));
  cache.update<NoticeCount>(countQuery.queryKey, ({ open }) => ({ open: Math.max(0, open - 1) }));
}

/** An answer; none lets the agent decide, or puts the notice aside. */
export interface Answer {
  notice: Notice;
  answer?: string;
}

/** What the answer to a notice is called among the drafts. */
export const draftOf = (notice: Notice) => `answer.${notice.id}`;

/** Answers a notice; it leaves the inbox at once. What was written stays until the server has it. */
export function useAnswer() {
  return useChange<Answer, Notice>({
    what: ({ notice }) => `Answer ${whose(notice) ?? "the notice"}`,
    send: ({ notice, answer }) =>
      post(`/api/v1/inbox/${encodeURIComponent(notice.id)}/answer`, { answer }),
    expect: (cache, { notice }) => leave(cache, notice),
    settle: () => [KEY],
    done: ({ notice, answer }) => {
      writeDraft(draftOf(notice), "");
      return answer === undefined
        ? asideWords(notice)
        : `${whose(notice) ?? "It"} was told: ${answer}`;
    },
  });
}

function asideWords(notice: Notice): string {
  return isAsking(notice)
    ? `${notice.agent ?? "It"} goes on without an answer`
    : "It was put aside";
}

/** Lets the agent of a failure begin anew; that closes the notice as well. */
export function useRestart() {
  return useChange<Notice, unknown>({
    what: (notice) => `Restart ${notice.agent ?? "the agent"}`,
    send: (notice) =>
      post(`/api/v1/agents/${encodeURIComponent(notice.agentId ?? "")}/restart`, {}),
    expect: leave,
    settle: () => [KEY],
    done: (notice) => `${notice.agent ?? "The agent"} begins anew in the same worktree`,
  });
}
