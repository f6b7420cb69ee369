import { queryOptions } from "@tanstack/react-query";
import { post } from "../../../api/client";
import { serverTimestamp } from "../../../api/clock";
import { type Listing, list } from "../../../api/list";
import type { Letter } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { onLive } from "../../../realtime/rules";
import { useSession } from "../../../roles/session";
import { shellWord } from "../../../ui/format";

const LETTERS = ["letters"] as const;
/** Nobody reads further back here. */
const MOST = 200;

/** Letters to an agent, or to the reader; the newest first. */
export const lettersQuery = (agent?: string) =>
  queryOptions({
    queryKey: [...LETTERS, agent ?? ""],
    queryFn: () => list("/api/v1/mail", { filter: { agent }, most: MOST }),
    // No event tells of a letter to a person, so whoever looks gets what is there now.
    staleTime: 0,
  });

onLive({ on: "agent:mail", invalidate: () => [LETTERS] });

/** A letter that is to be sent. */
interface Sending {
  to: string;
  text: string;
}

/** Writes to an agent or a person; among the letters of an agent it shows at once. */
export function useSendLetter() {
  const { actor } = useSession();
  return useChange<Sending, Letter>({
    what: ({ to }) => `Write to ${to}`,
    send: (letter) => post("/api/v1/mail", letter),
    expect: (cache, { to, text }) =>
      cache.update<Listing<Letter>>([...LETTERS, to], (all) => ({
        ...all,
        items: [
          {
            id: `new ${all.items.length}`,
            from: actor,
            to,
            text,
            sentAt: serverTimestamp(),
            read: false,
          },
          ...all.items,
        ],
      })),
    settle: () => [LETTERS],
    done: ({ to }) => `Sent to ${to}`,
  });
}

/** Somebody without the word for what they are: a name by which they can be written to. */
export function nameIn(address: string): string {
  return address.replace(/^(user|agent):/, "");
}

/** The same on the command line. */
export function sendCli({ to, text }: Sending): string {
  return `godel mail send ${shellWord(to || "TO")} ${shellWord(text || "TEXT")}`;
}
