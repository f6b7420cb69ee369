import type { ActionSpec } from "./actions";

/** Keys that a person chose instead of those that come with Godel. */
const STORED_AS = "godel.keys";

let chosen: Record<string, string[]> | undefined;

/** The keys of an action. */
export function keysOf(spec: ActionSpec): readonly string[] {
  chosen ??= read();
  return chosen[spec.id] ?? spec.keys ?? [];
}

/** Gives an action other keys; `undefined` gives it back its own. */
export function setKeys(id: string, keys: readonly string[] | undefined): void {
  chosen ??= read();
  const { [id]: _, ...others } = chosen;
  chosen = keys === undefined ? others : { ...others, [id]: [...keys] };
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(chosen));
  } catch {
    // Without storage the choice lasts until the next reload.
  }
}

/** Scopes that can be active at the same time as another one. */
const EVERYWHERE = new Set(["global", "list"]);

/** Pairs of actions that one key would start, as sentences. */
export function conflicts(specs: readonly ActionSpec[]): string[] {
  const found: string[] = [];
  for (const [at, one] of specs.entries()) {
    for (const other of specs.slice(at + 1)) {
      const meet =
        one.scope === other.scope || EVERYWHERE.has(one.scope) || EVERYWHERE.has(other.scope);
      if (one.id === other.id) found.push(`${one.id} is defined twice`);
      if (!meet) continue;
      for (const key of keysOf(one)) {
        for (const taken of keysOf(other)) {
          if (key === taken || taken.startsWith(`${key} `) || key.startsWith(`${taken} `)) {
            found.push(`${key} starts both ${one.id} and ${other.id}`);
          }
        }
      }
    }
  }
  return found;
}

function read(): Record<string, string[]> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    const lists = Object.entries(stored).filter(([, keys]) => Array.isArray(keys));
    return Object.fromEntries(
      lists.map(([id, keys]) => [
        id,
        (keys as unknown[]).filter((key): key is string => typeof key === "string"),
      ]),
    );
  } catch {
    return {};
  }
}
