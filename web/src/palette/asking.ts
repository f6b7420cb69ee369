import { useEffect, useEffectEvent } from "react";
import type { PaletteItem } from "./sources";

/** A question of the palette: what was chosen, and what there is to choose from next. */
export interface Step {
  id: string;
  title: string;
  items: readonly PaletteItem[];
}

let tell: ((step: Step) => void) | undefined;

/** Opens the palette with a question, such as which file; that is what keys of actions with steps do. */
export function ask(step: Step): void {
  tell?.(step);
}

/** Hears what is to be asked. Used once, by what opens the palette. */
export function useAsked(open: (step: Step) => void): void {
  const hear = useEffectEvent(open);
  useEffect(() => {
    tell = (step) => hear(step);
    return () => {
      tell = undefined;
    };
  }, []);
}
