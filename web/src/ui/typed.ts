/** A JSON object from a text that somebody typed; undefined if it is none. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Words that were typed with spaces or commas between them, in their order. */
export function listIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

/** The same, each once: where a word that is said again says nothing more. */
export function wordsIn(text: string): string[] {
  return [...new Set(listIn(text))];
}
