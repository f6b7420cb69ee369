import type { AgentLine } from "../../../api/types";

/** Tokens of one request by kind; the kinds do not overlap. */
export interface Tokens {
  /** Input that no cache knew. */
  fresh: number;
  /** Input that was read from a cache. */
  cached: number;
  /** Input that was written to a cache. */
  written: number;
  output: number;
}

/** What the parts are called, in the order in which they are drawn. */
export const KINDS = ["cached", "written", "fresh", "output"] as const;
export type TokenKind = (typeof KINDS)[number];

export const KIND_TITLES: Record<TokenKind, string> = {
  cached: "From a cache",
  written: "Written to a cache",
  fresh: "Fresh",
  output: "Output",
};

/** One request on the way of a conversation. */
export interface Step {
  seq: number;
  at: string;
  tokens: Tokens;
}

/** A moment at which the conversation was made shorter. */
export interface Compaction {
  seq: number;
  at: string;
  summary: string;
}

/** So many requests are drawn. */
export const MOST_STEPS = 50;

/** Agents that tell what each request used; others sum up a whole turn, which is no context. */
const BY_REQUEST: ReadonlySet<string> = new Set(["native", "opencode", "pi"]);
/** Agents that tell how much they have in mind beside what a turn used. */
const BY_WORD: ReadonlySet<string> = new Set(["claude", "acp"]);

export const tellsRequests = ({ harness }: { harness: string }) => BY_REQUEST.has(harness);
export const tellsContext = ({ harness }: { harness: string }) =>
  BY_REQUEST.has(harness) || BY_WORD.has(harness);

/** What is known of what an agent has in mind. */
export interface InMind {
  /** What its newest request, or turn, used. */
  last?: Tokens;
  /** What it says that it has in mind. */
  said?: Held;
}

/** How many tokens an agent has in mind. */
export interface Held {
  tokens: number;
  /** How many fit, if it says so itself. */
  most?: number;
}

/** What an event adds to that; undefined if it is about something else. */
export function inMindOf({
  type,
  payload,
}: Pick<AgentLine, "type" | "payload">): InMind | undefined {
  if (type === "agent:context") {
    const { used, most } = payload as { used?: unknown; most?: unknown };
    if (typeof used !== "number" || used <= 0) return undefined;
    return { said: { tokens: used, ...(typeof most === "number" && { most }) } };
  }
  const last = type === "agent:usage" ? tokensOf(payload) : undefined;
  return last && { last };
}

/** What an agent had in mind at its last request, as far as that is known. */
export function contextIn(agent: { harness: string }, { last, said }: InMind): Held | undefined {
  return tellsRequests(agent) ? last && { tokens: contextOf(last) } : said;
}

/** How full the model of an agent is: by the list of models, or else by what the agent says. */
export function fillOf(
  { contextTokens }: { contextTokens?: number | null },
  { tokens, most }: Held,
): Fullness | undefined {
  return fullnessOf(tokens, contextTokens ?? most);
}

/** Reads the tokens of an `agent:usage`; undefined if it does not carry them. */
export function tokensOf(payload: unknown): Tokens | undefined {
  if (typeof payload !== "object" || payload === null || !("usage" in payload)) return undefined;
  const { usage } = payload;
  if (typeof usage !== "object" || usage === null) return undefined;
  const of = (name: string) => {
    const value = (usage as Record<string, unknown>)[name];
    return typeof value === "number" && value > 0 ? value : 0;
  };
  const tokens = {
    fresh: of("input"),
    cached: of("cacheRead"),
    written: of("cacheWrite5m") + of("cacheWrite1h"),
    output: of("output"),
  };
  return contextOf(tokens) + tokens.output > 0 ? tokens : undefined;
}

/** What the model was given: everything but the answer. */
export function contextOf({ fresh, cached, written }: Tokens): number {
  return fresh + cached + written;
}

/** From this part of what the model takes on, it is nearly full; as the colour of a meter has it. */
const NEAR = 0.8;

/** How much of what a model takes is used. */
export interface Fullness {
  most: number;
  /** Rounded down, so that 100 is really full. */
  percent: number;
  /** The same for people: a little is not nothing. */
  text: string;
  tone: "calm" | "near" | "over";
  warning: string | undefined;
}

/** How full a model is; undefined if its size is not known. */
export function fullnessOf(context: number, most: number | null | undefined): Fullness | undefined {
  if (most === null || most === undefined || most <= 0) return undefined;
  const part = context / most;
  const percent = Math.floor(part * 100);
  const known = { most, percent, text: percent === 0 && part > 0 ? "<1%" : `${percent}%` };
  if (part >= 1) return { ...known, tone: "over", warning: "full" };
  if (part >= NEAR) return { ...known, tone: "near", warning: "nearly full" };
  return { ...known, tone: "calm", warning: undefined };
}

/** The newest requests of a log, and when the conversation was made shorter; the oldest first. */
export function historyOf(lines: readonly AgentLine[]): {
  steps: readonly Step[];
  compactions: readonly Compaction[];
  mind: InMind;
} {
  const steps: Step[] = [];
  let mind: InMind = {};
  const compactions: Compaction[] = [];
  for (const { seq, at, type, payload } of lines) {
    const more = inMindOf({ type, payload });
    if (more) mind = { ...mind, ...more };
    if (more?.last) steps.push({ seq, at, tokens: more.last });
    if (type === "agent:compacted") {
      const { summary } = payload as { summary?: unknown };
      compactions.push({ seq, at, summary: typeof summary === "string" ? summary : "" });
    }
  }
  return { steps: steps.slice(-MOST_STEPS), compactions, mind };
}

/** `950`, `12.3k`, `1.2M` */
export function shortCount(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 999_950) return `${trim(value / 1_000)}k`;
  return `${trim(value / 1_000_000)}M`;
}

const trim = (value: number) => value.toFixed(1).replace(/\.0$/, "");
