import type { QueryClient, QueryKey } from "@tanstack/react-query";
import type { GodelEvent } from "../api/types";
import { matchesPattern } from "./pattern";

/** What an event means for what the page has in its cache. */
export interface LiveRule {
  /** Types that it is about, such as `agent:*`. */
  on: string | readonly string[];
  /** Changes the cache at once; for events that carry all that is needed. */
  patch?: (client: QueryClient, events: readonly GodelEvent[]) => void;
  /** Queries that are to be asked again; asked at most once per `everyMs`. */
  invalidate?: (event: GodelEvent) => readonly QueryKey[];
  everyMs?: number;
}

/** So often at most a query is asked again because of events. */
const EVERY_MS = 1_000;

const rules = new Set<LiveRule>();

/** Registers what events mean; called once where the queries of a feature are defined. */
export function onLive(rule: LiveRule): () => void {
  rules.add(rule);
  return () => rules.delete(rule);
}

/** Queries that no event is about: who is here, and how the server is. */
const APART = new Set<unknown>(["session", "health"]);

/**
 * Applies events to the cache, calmly: patches once per batch, and each query is asked again at
 * once for the first event, then at most once in a while for all that follow.
 */
export class RuleRunner {
  readonly #client: QueryClient;
  readonly #waiting = new Map<string, { key: QueryKey; timer: ReturnType<typeof setTimeout> }>();
  readonly #dirty = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  apply(events: readonly GodelEvent[]): void {
    for (const rule of rules) {
      const patterns = typeof rule.on === "string" ? [rule.on] : rule.on;
      const about = events.filter((event) =>
        patterns.some((pattern) => matchesPattern(pattern, event.type)),
      );
      if (about.length === 0) continue;
      rule.patch?.(this.#client, about);
      for (const event of about) {
        for (const key of rule.invalidate?.(event) ?? []) this.#ask(key, rule.everyMs ?? EVERY_MS);
      }
    }
  }

  /** Asks for everything again that is on the page: something may have been missed. */
  refetchAll(): void {
    this.#client.invalidateQueries({ predicate: ({ queryKey }) => !APART.has(queryKey[0]) });
  }

  stop(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#dirty.clear();
  }

  #ask(key: QueryKey, everyMs: number): void {
    const name = JSON.stringify(key);
    if (this.#waiting.has(name)) {
      this.#dirty.add(name);
      return;
    }
    const answered = this.#client.invalidateQueries({ queryKey: key }, { cancelRefetch: true });
    const timer = setTimeout(async () => {
      // An answer that takes long is waited for; asking anew each time would never get one.
      await answered;
      if (this.#waiting.get(name)?.timer !== timer) return;
      this.#waiting.delete(name);
      if (this.#dirty.delete(name)) this.#ask(key, everyMs);
    }, everyMs);
    this.#waiting.set(name, { key, timer });
  }
}
