import { useCallback, useState } from "react";

const PREFIX = "godel.draft.";

/**
 * A text that somebody is writing. It survives a reload, a step back, a lost connection and a
 * crash of the page; `clear` it when it was sent.
 */
export function useDraft(name: string, initial = ""): [string, (text: string) => void, () => void] {
  const [text, setText] = useState(() => readDraft(name) ?? initial);
  const change = useCallback(
    (next: string) => {
      setText(next);
      writeDraft(name, next);
    },
    [name],
  );
  const clear = useCallback(() => {
    setText("");
    writeDraft(name, "");
  }, [name]);
  return [text, change, clear];
}

/** A draft that was kept. */
export function readDraft(name: string): string | undefined {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Takes a draft away that was sent, unless somebody writes the next one already. */
export function forgetDraft({ name, text }: { name: string; text: string }): void {
  if (readDraft(name) === text) writeDraft(name, "");
}

/** Keeps a draft; nothing takes it away. */
export function writeDraft(name: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}
