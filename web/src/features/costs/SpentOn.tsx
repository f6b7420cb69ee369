import { useQuery } from "@tanstack/react-query";
import { settingsQueries } from "../settings/queries";
import { Figures, FiguresToCome } from "./Figures";
import type { Range, Zone } from "./range";
import { splitsOf } from "./spend";
import { spentOn } from "./spentOn";
import { type Scope, useSpend } from "./useSpend";

interface SpentOnProps {
  range: Range;
  zone: Zone;
  scope: Scope;
}

/** What was spent on models, machines and storage in the time that is shown. */
export function SpentOn({ range, zone, scope }: SpentOnProps) {
  const { data: cells } = useSpend(range, zone, "kind", scope);
  const { data: rates } = useQuery(settingsQueries.runtimes);
  if (!cells) return <FiguresToCome />;
  return <Figures label="Spent on" figures={spentOn(splitsOf(cells), rates)} />;
}
