import { createContext, useContext } from "react";
import type { Session } from "../api/types";
import { useIsOnline } from "../realtime/live";
import { type Need, refusal } from "./permissions";

const Current = createContext<Session | undefined>(undefined);

/** Tells everything inside who is logged in. */
export const SessionProvider = Current;

/** Who is logged in. */
export function useSession(): Session {
  const session = useContext(Current);
  if (!session) throw new Error("nobody is logged in around this component");
  return session;
}

/** What an action needs: a right, and a connection if it cannot be taken back. */
interface Needs {
  can?: Need | undefined;
  destructive?: boolean | undefined;
}

/** Tells why something cannot be done now, as a sentence; for those who learn later what it is. */
export function useRefusals(): (needs: Needs) => string | undefined {
  const session = useContext(Current);
  const isOnline = useIsOnline();
  return ({ can, destructive = false }) => {
    const why = can !== undefined && session ? refusal(session, can) : undefined;
    if (why !== undefined) return why;
    if (destructive && !isOnline) return "The connection is lost; this waits until it is back.";
    return undefined;
  };
}

/** Why something cannot be done now, as a sentence; undefined if it can. */
export function useRefusal(can?: Need, { destructive = false } = {}): string | undefined {
  return useRefusals()({ can, destructive });
}

/** Something that belongs to somebody. */
export interface Owned {
  /** What it is called in the sentence. */
  name: string;
  isOwn: boolean;
}

/**
 * Tells why a thing of somebody else cannot be touched: some may do that only to what is theirs.
 * `need` is what one must be allowed for those of the others, so it ends with `:team`.
 */
export function useForeignRefusal(
  need: `${string}:${string}:team`,
): (thing: Owned) => string | undefined {
  const refused = useRefusal(need);
  return ({ name, isOwn }) =>
    refused === undefined || isOwn ? undefined : `${name} is not yours: ${refused}`;
}

/** Whether the person may do something. */
export function useCan(need: Need): boolean {
  return useRefusal(need) === undefined;
}
