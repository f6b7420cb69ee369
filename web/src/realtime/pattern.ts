/** The server's limits on a pattern. */
const MAX_LENGTH = 100;
const MAX_WORDS = 5;
const WORD = /^(\*|[a-z][a-z0-9_-]*)$/;

/**
 * True when an event type matches a pattern such as `agent:*`, `workflow:*:done` or `*`.
 * A `*` stands for one word; as the last word it stands for one or more.
 */
export function matchesPattern(pattern: string, type: string): boolean {
  const wanted = pattern.split(":");
  const words = type.split(":");
  const isOpen = wanted.at(-1) === "*";
  if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return false;
  return wanted.every((want, index) => want === "*" || want === words[index]);
}

/**
 * Turns what a person types into a pattern: nothing means all, `agent` means `agent:*`.
 * Returns undefined for what the server would refuse.
 */
export function patternFromInput(input: string): string | undefined {
  const text = input.trim().toLowerCase();
  if (text === "") return "*";
  const pattern = text.endsWith(":") ? `${text}*` : /[:*]/.test(text) ? text : `${text}:*`;
  const words = pattern.split(":");
  const isValid =
    pattern.length <= MAX_LENGTH && words.length <= MAX_WORDS && words.every((w) => WORD.test(w));
  return isValid ? pattern : undefined;
}
