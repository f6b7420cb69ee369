import { useSyncExternalStore } from "react";

/** A message that goes away by itself. */
export interface Toast {
  id: number;
  tone: "plain" | "bad";
  title: string;
  detail?: string | undefined;
  /** The one thing to do about it. */
  action?: { label: string; run: () => void } | undefined;
  ms: number;
}

/** As long as something can be taken back. */
export const UNDO_MS = 8_000;
const PLAIN_MS = 4_000;
const BAD_MS = 20_000;
/** More would hide the page; the oldest goes. */
const MOST = 4;

let toasts: readonly Toast[] = [];
let made = 0;
const listeners = new Set<() => void>();

/** Shows a message. Returns its id. */
export function toast(message: Omit<Toast, "id" | "ms" | "tone"> & Partial<Toast>): number {
  made += 1;
  const tone = message.tone ?? "plain";
  const ms = message.ms ?? (tone === "bad" ? BAD_MS : PLAIN_MS);
  set([...toasts, { ...message, id: made, tone, ms }].slice(-MOST));
  return made;
}

/** Tells that something was done, and for a while how to take it back. */
export function undoToast(title: string, undo: () => void): number {
  return toast({ title, action: { label: "Undo", run: undo }, ms: UNDO_MS });
}

/** Takes a message away. */
export function dismiss(id: number): void {
  set(toasts.filter((one) => one.id !== id));
}

/** The messages, the newest last. */
export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(listen, () => toasts);
}

let home: HTMLElement | null = null;

/** Where the messages are shown while it is there; in the corner of the page again after that. */
export function showToastsIn(element: HTMLElement | null): void {
  home = element;
  tellAll();
}

/** The place that was named for the messages, if there is one. */
export function useToastHome(): HTMLElement | null {
  return useSyncExternalStore(listen, () => home);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: readonly Toast[]): void {
  toasts = next;
  tellAll();
}

function tellAll(): void {
  for (const tell of listeners) tell();
}
