/** Turns a server message (lower case, no period) into a sentence. */
export function asSentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const start = trimmed.startsWith("`") ? trimmed : trimmed[0]?.toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

/** What is wrong and what to do about it, one after the other; what was not said is left out. */
export function asSentences(...texts: readonly (string | null | undefined)[]): string {
  return texts
    .filter((text) => typeof text === "string")
    .map(asSentence)
    .join(" ");
}

/** A message as a sentence; words in backticks are set as code. */
export function Sentence({ text }: { text: string }) {
  const parts = asSentence(text).split("`");
  let offset = 0;
  return parts.map((part, index) => {
    const key = offset;
    offset += part.length + 1;
    const isCode = index % 2 === 1 && index < parts.length - 1;
    return isCode ? <code key={key}>{part}</code> : part;
  });
}
