import { useMemo } from "react";
import type { IconName } from "../ui/Icon";
import { useStored } from "../ui/useStored";
import { leadsTo, type PaletteItem } from "./sources";

/**
 * What was chosen. An action is known by its id and is offered where it can be done; what a search
 * has found is kept as its line, for without the search nothing would know it.
 */
interface Recent {
  id: string;
  title?: string;
  note?: string | undefined;
  icon?: IconName | undefined;
  to?: string;
}

const MOST = 6;

/** What was used lately, as lines of the palette, and the way to remember one more. */
export function useRecent() {
  // Earlier versions kept ids alone.
  const [kept, setKept] = useStored<readonly (Recent | string)[]>("palette.recent", []);
  const recent = useMemo(
    () => kept.map((one): Recent => (typeof one === "string" ? { id: one } : one)),
    [kept],
  );
  const remember = (item: PaletteItem) =>
    setKept([recentOf(item), ...recent.filter(({ id }) => id !== item.id)].slice(0, MOST));
  return { recent, remember };
}

/** The lines of what was used lately, as far as they lead anywhere from here. */
export function recentLines(
  recent: readonly Recent[],
  pool: readonly PaletteItem[],
): PaletteItem[] {
  return recent.flatMap((one) => {
    const known = pool.find(({ id }) => id === one.id) ?? lineOf(one);
    return known ? [{ ...known, group: "Recent" }] : [];
  });
}

function recentOf({ id, title, note, icon, to }: PaletteItem): Recent {
  return to === undefined ? { id } : { id, title, note, icon, to };
}

function lineOf({ id, title, note, icon, to }: Recent): PaletteItem | undefined {
  if (title === undefined || to === undefined) return undefined;
  return { id, group: "Recent", title, note, icon, ...leadsTo(to) };
}
