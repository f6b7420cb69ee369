import { type PointerEvent, useMemo } from "react";
import type { RunStep } from "../../../api/types";
import { lookOf } from "../states";
import styles from "./Graph.module.css";
import { CARD, type Layout } from "./layout";
import type { View } from "./useView";

const MOST = { width: 180, height: 110 };

interface MiniMapProps {
  layout: Layout;
  view: View;
  steps: readonly RunStep[];
  onGo: (x: number, y: number) => void;
}

/** Where one is in a picture that does not fit; it only helps a pointer, keys have the cards. */
export function MiniMap({ layout, view, steps, onGo }: MiniMapProps) {
  const tones = useMemo(
    () => new Map(steps.map(({ id, state }) => [id, lookOf(state).tone])),
    [steps],
  );
  const fits = layout.width <= view.width + 1 && layout.height <= view.height + 1;
  if (fits || layout.nodes.length === 0) return null;
  const scale = Math.min(MOST.width / layout.width, MOST.height / layout.height);
  const go = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons !== 1) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    onGo((event.clientX - left) / scale, (event.clientY - top) / scale);
  };
  return (
    <div
      className={styles.map}
      data-minimap
      aria-hidden="true"
      onPointerDown={go}
      onPointerMove={go}
    >
      <svg
        width={Math.ceil(layout.width * scale)}
        height={Math.ceil(layout.height * scale)}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        aria-hidden="true"
      >
        {layout.nodes.map(({ id, x, y }) => (
          <rect
            key={id}
            x={x}
            y={y}
            width={CARD.width}
            height={CARD.height}
            rx={8}
            className={styles[`dot${tones.get(id)}`] ?? styles.dot}
          />
        ))}
        <rect
          x={view.left}
          y={view.top}
          width={Math.min(view.width, layout.width)}
          height={Math.min(view.height, layout.height)}
          strokeWidth={1.5 / scale}
          className={styles.sight}
        />
      </svg>
    </div>
  );
}
