import { useMemo } from "react";
import { Icon } from "../Icon";
import { Menu } from "../Menu";
import { useStored } from "../useStored";
import type { Column } from "./DataTable";

/** Which columns of a table are shown, as this browser remembers it, and the menu to choose them. */
export function useColumns<T>(
  table: string,
  columns: readonly Column<T>[],
  hiddenAtFirst: readonly string[] = [],
) {
  const [hidden, setHidden] = useStored<readonly string[]>(`columns.${table}`, hiddenAtFirst);
  const shown = useMemo(
    () => new Set(columns.map(({ id }) => id).filter((id) => !hidden.includes(id))),
    [columns, hidden],
  );
  const chooser = (
    <Menu
      label="Columns"
      look="line"
      button={<Icon name="columns" size={15} />}
      items={columns
        .filter((column) => !column.always)
        .map(({ id, title }) => ({
          id,
          title,
          isChosen: shown.has(id),
          run: () =>
            setHidden(hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]),
        }))}
    />
  );
  return { shown, chooser };
}
