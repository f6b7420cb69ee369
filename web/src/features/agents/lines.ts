import type { AgentLine } from "../../api/types";
import { words } from "../../ui/format";
import type { IconName } from "../../ui/Icon";
import type { Tone } from "../../ui/Status";

/** One line of a log as people read it. */
export interface Told {
  icon: IconName;
  tone: Tone;
  /** What kind of thing happened, in a word or two. */
  head: string;
  text: string;
}

type Payload = Readonly<Record<string, unknown>>;

const word = (payload: Payload, name: string): string => {
  const value = payload[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};

/** The input of a tool call is JSON in a text; the part that people look for comes first. */
function callText(payload: Payload): string {
  const input = word(payload, "input");
  try {
    const fields = JSON.parse(input) as Payload;
    for (const name of ["command", "path", "file", "question", "summary", "query"]) {
      const value = word(fields, name);
      if (value !== "") return value;
    }
  } catch {
    // Some agents say it in words.
  }
  return input;
}

const TELL: Record<string, (payload: Payload) => Told> = {
  "agent:text": (p) => ({ icon: "message", tone: "plain", head: "Says", text: word(p, "text") }),
  "agent:thinking": (p) => ({ icon: "dots", tone: "plain", head: "Thinks", text: word(p, "text") }),
  "agent:tool:call": (p) => ({
    icon: "terminal",
    tone: "info",
    head: word(p, "name") || "Tool",
    text: callText(p),
  }),
  "agent:tool:result": (p) => ({
    icon: p.failed === true ? "alert" : "check",
    tone: p.failed === true ? "bad" : "plain",
    head: p.failed === true ? "Failed" : "Result",
    text: word(p, "text"),
  }),
  "agent:state": (p) => ({
    icon: "circle",
    tone: "plain",
    head: words(word(p, "state")),
    text: word(p, "why"),
  }),
  "agent:needs:person": (p) => ({
    icon: "hand",
    tone: "warn",
    head: "Asks you",
    text: word(p, "text"),
  }),
  "agent:answered": (p) => ({
    icon: "person",
    tone: "ok",
    head: "Answered",
    text: `by ${word(p, "by")}`,
  }),
  "agent:commit": (p) => ({ icon: "branch", tone: "ok", head: "Commit", text: word(p, "commit") }),
  "agent:says:done": (p) => ({
    icon: "check",
    tone: "ok",
    head: "Says done",
    text: word(p, "summary"),
  }),
  "agent:complete": (p) => ({
    icon: "check",
    tone: "ok",
    head: "Completed",
    text: word(p, "summary"),
  }),
  "agent:trouble": (p) => ({
    icon: "alert",
    tone: "bad",
    head: "Trouble",
    text: word(p, "why") || word(p, "text"),
  }),
  "agent:spawn": (p) => ({
    icon: "plus",
    tone: "info",
    head: "Spawned",
    text: `${word(p, "role")} with ${word(p, "model")}, walls ${word(p, "sandbox")}`,
  }),
  "agent:pause": () => ({ icon: "pause", tone: "plain", head: "Paused", text: "" }),
  "agent:resume": () => ({ icon: "play", tone: "info", head: "Resumed", text: "" }),
  "agent:restart": () => ({ icon: "refresh", tone: "info", head: "Restarted", text: "" }),
  "agent:kill": () => ({ icon: "stop", tone: "bad", head: "Ended", text: "" }),
  "agent:output": (p) => ({
    icon: "terminal",
    tone: "plain",
    head: "Output",
    text: word(p, "text"),
  }),
  "agent:mail": (p) => ({
    icon: "message",
    tone: "info",
    head: `Mail from ${word(p, "from")}`,
    text: word(p, "text"),
  }),
};

/** Lines that are for programs: counted elsewhere, or said by another line. */
const QUIET = new Set([
  "agent:usage",
  "agent:context",
  "agent:turn",
  "key:agent-revoke",
  "agent:todos",
]);

/** Whether a person who follows the agent wants to see it. */
export function isWorthTelling({ type }: Pick<AgentLine, "type">): boolean {
  return !QUIET.has(type);
}

/** Says a line in words; a kind that is not known is shown with all it carries. */
export function tell(line: Pick<AgentLine, "type" | "payload">): Told {
  const payload = (line.payload ?? {}) as Payload;
  const told = TELL[line.type]?.(payload);
  if (told) return told;
  const name = line.type.replace(/^agent:/, "").replaceAll(":", " ");
  const text = Object.entries(payload)
    .filter(([, value]) => typeof value === "string" || typeof value === "number")
    .map(([key, value]) => `${key} ${value}`);
  return { icon: "circle", tone: "plain", head: words(name), text: text.join(", ") };
}

/** A line as the terminal shows it. */
export function asText(line: AgentLine): string {
  const { head, text } = tell(line);
  return text === "" ? head : `${head}: ${text}`;
}

/** What a reader of the log may want to see only. */
export const LEVELS = [
  ["", "Everything"],
  ["problem", "Problems"],
  ["talk", "What it says"],
  ["tool", "Tools"],
] as const;
export type Level = (typeof LEVELS)[number][0];

const TALK = ["agent:text", "agent:thinking", "agent:mail", "agent:answered", "agent:says:done"];
const TOOL = ["agent:tool:call", "agent:tool:result", "agent:output"];

/** Whether a line is of a level; a question of the agent is talk, and waits like a problem. */
export function isOfLevel(line: AgentLine, level: Level): boolean {
  if (level === "") return true;
  if (level === "tool") return TOOL.includes(line.type);
  const { tone } = tell(line);
  if (level === "problem") return tone === "bad" || tone === "warn";
  return TALK.includes(line.type) || line.type === "agent:needs:person";
}
