import type { GodelEvent } from "../../api/types";
import { kindOf } from "./kinds";

/** What an agent needs a person for, as the event of it tells. */
export interface Asked {
  /** The id of the notice in the inbox. */
  notice: string;
  /** Its kind for people, such as `Question`. */
  title: string;
  text: string;
  agent: string | undefined;
}

/** An agent acts under this name. */
const AGENT = "agent:";

/** Reads an event; undefined if it is not about a person being needed. */
export function asked({
  type,
  payload,
  metadata,
}: Pick<GodelEvent, "type" | "payload" | "metadata">): Asked | undefined {
  if (type !== "agent:needs:person") return undefined;
  const { notice, kind, text } = payload as Record<string, unknown>;
  if (typeof notice !== "string") return undefined;
  return {
    notice,
    title: kindOf({ kind: String(kind ?? "") }).title,
    text: String(text ?? ""),
    agent: metadata.actor?.startsWith(AGENT) ? metadata.actor.slice(AGENT.length) : undefined,
  };
}
