import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import type { PaletteItem } from "../palette/sources";
import type { Need } from "../roles/permissions";
import type { IconName } from "../ui/Icon";

/**
 * Something a person can do, said once: its key, its line in the palette and in the sheet of keys,
 * its permission and its name all come from here.
 */
export interface ActionSpec {
  /** Such as `agents.pause`; unique. */
  id: string;
  /** Where it works: `global`, `list`, or the id of a page. Keys are unique per scope. */
  scope: string;
  title: string;
  /** Chords and sequences: `p`, `mod+k`, `g a`. */
  keys?: readonly string[];
  icon?: IconName;
  /** What one must be allowed to do it. */
  can?: Need;
  /** It cannot be taken back, so it waits while the connection is lost. */
  destructive?: boolean;
  /** Moving in a list is no line of the palette. */
  hidden?: boolean;
}

/** What an action does at the moment. */
export interface Binding {
  spec: ActionSpec;
  run: () => void;
  /** With what it is about: `Pause worker-1`. */
  title?: string | undefined;
  /** The same on the command line. */
  cli?: string | undefined;
  /** Why it cannot be done now. */
  disabled?: string | undefined;
  /** What the palette asks next, instead of doing something. */
  steps?: (() => readonly PaletteItem[]) | undefined;
}

const defined: ActionSpec[] = [];
const bound = new Set<{ current: Binding }>();
const listeners = new Set<() => void>();
let snapshot: readonly Binding[] = [];

/** Defines an action; called once per action, beside the code that it starts. */
export function defineAction(spec: ActionSpec): ActionSpec {
  defined.push(spec);
  return spec;
}

/** Every action that was defined so far. */
export function definedActions(): readonly ActionSpec[] {
  return defined;
}

/** Lets an action be done for as long as the component lives. */
export function useAction(
  spec: ActionSpec,
  run: () => void,
  {
    title,
    cli,
    disabled,
    steps,
    when = true,
  }: Omit<Binding, "spec" | "run"> & { when?: boolean } = {},
): void {
  const start = useEffectEvent(run);
  const ask = useEffectEvent(() => steps?.() ?? []);
  const hasSteps = steps !== undefined;
  useEffect(() => {
    if (!when) return;
    const next = hasSteps ? () => ask() : undefined;
    const place = { current: { spec, run: () => start(), title, cli, disabled, steps: next } };
    bound.add(place);
    changed();
    return () => {
      bound.delete(place);
      changed();
    };
  }, [spec, title, cli, disabled, hasSteps, when]);
}

/** What can be done now; of two bindings of one action the later one counts. */
export function boundActions(): readonly Binding[] {
  return snapshot;
}

/** What can be done now, drawn again when it changes. */
export function useBoundActions(): readonly Binding[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, boundActions);
}

function changed(): void {
  const latest = new Map<string, Binding>();
  for (const { current } of bound) {
    latest.delete(current.spec.id);
    latest.set(current.spec.id, current);
  }
  snapshot = [...latest.values()];
  for (const tell of listeners) tell();
}
