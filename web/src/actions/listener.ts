import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { ask } from "../palette/asking";
import { useRefusals } from "../roles/session";
import { type Binding, boundActions } from "./actions";
import { keysOf } from "./keymap";
import { chordOf, isEditable, isPressable } from "./keys";

/** How long the second key of a sequence is waited for. */
export const PENDING_MS = 1_000;

let pending: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Hears all keys of the page and starts what they stand for. Used once, by the shell. */
export function useKeys(): void {
  const refusedOf = useRefusals();
  const hear = useEffectEvent((event: KeyboardEvent) =>
    onKey(event, ({ spec, disabled }) => refusedOf(spec) ?? disabled),
  );
  useEffect(() => {
    const listen = (event: KeyboardEvent) => hear(event);
    document.addEventListener("keydown", listen);
    return () => {
      document.removeEventListener("keydown", listen);
      wait(undefined);
    };
  }, []);
}

/** The first key of a sequence, while the second one is waited for. */
export function usePendingKey(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pending,
  );
}

function onKey(event: KeyboardEvent, whyNot: (binding: Binding) => string | undefined): void {
  if (event.defaultPrevented || event.isComposing) return;
  const chord = chordOf(event);
  if (chord === undefined || !counts(chord, event.target)) return;
  const first = pending;
  wait(undefined);
  const whole = first ? `${first} ${chord}` : chord;
  const found = find(whole) ?? (first ? find(chord) : undefined);
  if (found) {
    event.preventDefault();
    if (whyNot(found) !== undefined) return;
    const { spec, title = spec.title, steps } = found;
    if (steps) ask({ id: spec.id, title, items: steps() });
    else found.run();
    return;
  }
  if (boundActions().some(({ spec }) => keysOf(spec).some((key) => key.startsWith(`${chord} `)))) {
    event.preventDefault();
    wait(chord);
  }
}

/** A letter that is being written is no key, nor is one in front of a dialog. */
function counts(chord: string, target: EventTarget | null): boolean {
  if (document.querySelector("dialog[open]")) return false;
  if (chord.startsWith("mod+")) return true;
  if (isEditable(target)) return false;
  return !((chord === "enter" || chord === "space") && isPressable(target));
}

/** The latest binding wins: a page is in front of the shell. */
function find(keys: string): Binding | undefined {
  return boundActions().findLast(({ spec }) => keysOf(spec).includes(keys));
}

function wait(chord: string | undefined): void {
  clearTimeout(timer);
  if (pending !== chord) {
    pending = chord;
    for (const tell of listeners) tell();
  }
  if (chord !== undefined) timer = setTimeout(() => wait(undefined), PENDING_MS);
}
