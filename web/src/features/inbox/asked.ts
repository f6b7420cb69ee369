import type { GodelEvent } from "../../api/types";
import { kindOf } from "./kinds";

/** What a person is needed for, as the event of it tells. */
export interface Asked {
  /** The same for all events of one incident: the later one replaces the one before. */
  notice: string;
  /** Its id in the inbox, if the event tells it. */
  id: string | undefined;
  /** Its kind for people, such as `Question`. */
  title: string;
  text: string;
  agent: string | undefined;
}

/** An agent acts under this name. */
const AGENT = "agent:";
/** What waits for a person without an agent, and as which kind of notice. */
const ALERTS: Record<string, string> = {
  "workflow:approval:asked": "approval",
  "budget:warning": "budget",
  "budget:exceeded": "budget",
  "pool:alert": "dead_letters",
};

/** Reads an event; undefined if it is not about a person being needed. */
export function asked({
  type,
  payload,
  metadata,
}: Pick<GodelEvent, "type" | "payload" | "metadata">): Asked | undefined {
  const alert = ALERTS[type];
  const told = payload as Record<string, unknown>;
  // An agent that its budget stops says so itself.
  if (alert === "budget" && String(told.scope).startsWith(AGENT)) return undefined;
  if (alert) return alerted(alert, told);
  if (type !== "agent:needs:person") return undefined;
  const { notice, kind, text } = told;
  if (typeof notice !== "string") return undefined;
  return {
    notice,
    id: notice,
    title: kindOf({ kind: String(kind ?? "") }).title,
    text: String(text ?? ""),
    agent: metadata.actor?.startsWith(AGENT) ? metadata.actor.slice(AGENT.length) : undefined,
  };
}

function alerted(kind: string, payload: Record<string, unknown>): Asked {
  const { run, step, workflow, message, budget, scope, pool } = payload;
  const notice = [kind, run, step, budget, pool].filter(Boolean).join("/");
  const text = String(message ?? workflow ?? scope ?? `pool ${pool}`);
  return { notice, id: undefined, title: kindOf({ kind }).title, text, agent: undefined };
}
