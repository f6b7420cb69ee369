import { useCallback, useState, useSyncExternalStore } from "react";

const PREFIX = "godel.draft.";

/** Drafts of a browser that keeps nothing; they last as long as the page. */
const unkept = new Map<string, string>();
const listeners = new Set<() => void>();

/**
 * A text that somebody is writing. It survives a reload, a step back, a lost connection and a
 * crash of the page; `clear` it when it was sent. What is taken away or brought back elsewhere
 * shows at once.
 */
export function useDraft(name: string, initial = ""): [string, (text: string) => void, () => void] {
  const kept = useSyncExternalStore(listen, () => readDraft(name));
  // An empty draft is not kept; who takes away all that was there wants to see nothing.
  const [isEmptied, setEmptied] = useState(false);
  const change = useCallback(
    (next: string) => {
      setEmptied(next === "");
      writeDraft(name, next);
    },
    [name],
  );
  const clear = useCallback(() => change(""), [change]);
  return [kept ?? (isEmptied ? "" : initial), change, clear];
}

/** A draft that was kept. */
export function readDraft(name: string): string | undefined {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? unkept.get(name);
  } catch {
    return unkept.get(name);
  }
}

/** What was sent from a draft. */
export interface Draft {
  name: string;
  text: string;
  /** Whether it is all fields of a form: two of them are no text that goes on. */
  isForm?: boolean;
}

/** Takes a draft away that was sent, unless somebody writes the next one already. */
export function forgetDraft({ name, text }: Draft): void {
  if (readDraft(name) === text) writeDraft(name, "");
}

/** Brings back what was sent and refused; what was written since comes after it. */
export function returnDraft({ name, text, isForm }: Draft): void {
  const since = readDraft(name);
  // A second try that is refused as well finds what the first one brought back.
  const isBack = since === text || since?.startsWith(`${text}\n`);
  if (since === undefined) writeDraft(name, text);
  else if (!isForm && !isBack) writeDraft(name, `${text}\n${since}`);
}

/** Keeps a draft; nothing takes it away. */
export function writeDraft(name: string, text: string): void {
  unkept.delete(name);
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, text);
  } catch {
    if (text !== "") unkept.set(name, text);
  }
  for (const tell of listeners) tell();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
