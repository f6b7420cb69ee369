import { useMemo } from "react";
import type { Convoy, ConvoyRun } from "../../api/types";
import { useNow } from "../../ui/useNow";
import type { BeadGraph } from "../beads/graph";
import styles from "./Board.module.css";
import { hasEnd, isAtWork, wordsFor } from "./convoyEta";
import type { Past } from "./past";

const EVERY_MS = 15_000;

interface EtaFactProps {
  convoy: Convoy;
  graph: BeadGraph;
  /** `undefined` while it is read, `null` if it cannot be. */
  past: Past | null | undefined;
  /** `undefined` while it is read, `null` if it was never started. */
  run: ConvoyRun | null | undefined;
}

/** How long a convoy still takes, by what was measured; its place is kept while that is found out. */
export function EtaFact({ convoy, graph, past, run }: EtaFactProps) {
  const isTicking = useMemo(
    () => Boolean(past && run !== undefined && isAtWork({ convoy, graph, past, run })),
    [convoy, graph, past, run],
  );
  const now = useNow(EVERY_MS, isTicking);
  // Boards are drawn often, and a convoy may have thousands of beads.
  const words = useMemo(() => {
    if (!hasEnd(convoy, graph)) return null;
    if (past === null) {
      return { text: "no estimate yet", title: "What agents did so far could not be read." };
    }
    return past && run !== undefined ? wordsFor({ convoy, graph, past, run, now }) : undefined;
  }, [convoy, graph, past, run, now]);
  if (words === null) return null;
  return (
    <span className={styles.eta} data-eta title={words?.title}>
      {words?.text}
    </span>
  );
}
