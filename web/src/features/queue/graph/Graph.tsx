import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import type { RunStep } from "../../../api/types";
import { classes } from "../../../ui/classes";
import { duration } from "../../../ui/format";
import { StateBadge } from "../StateBadge";
import { lookOf, tookSeconds } from "../states";
import styles from "./Graph.module.css";
import { CARD, type Layout, layoutOf, neighbour, pathOf } from "./layout";
import { MiniMap } from "./MiniMap";
import { edgeKey, edgesOf, spoken, stackOf } from "./story";
import type { Told } from "./told";
import { useView, type View } from "./useView";

/** Up to here all cards are drawn; of more only those in sight and around it. */
const DRAWN_MAX = 250;
const AROUND = 400;

/** The steps as cards in layers. For a screen reader it is the list of the steps in their order. */
export function Graph(told: Told) {
  const { steps, way, chosen, onChoose } = told;
  const layout = useLayout(steps);
  const box = useRef<HTMLDivElement>(null);
  const view = useView(box);
  const places = useMemo(() => new Map(layout.nodes.map((node) => [node.id, node])), [layout]);
  const decisive = useMemo(() => edgesOf(way), [way]);
  const isSeen = seenBy(view, layout.nodes.length);
  const goTo = (id: string) => {
    const place = places.get(id);
    if (place) scrollTo(box.current, place.x + CARD.width / 2, place.y + CARD.height / 2);
  };
  useEffect(() => {
    const place = chosen === undefined ? undefined : places.get(chosen);
    const element = box.current;
    if (!place || !element || isInside(element, place)) return;
    scrollTo(element, place.x + CARD.width / 2, place.y + CARD.height / 2);
  }, [chosen, places]);
  const onKeyDown = (event: KeyboardEvent) => {
    const { step } = (event.target as HTMLElement).dataset;
    const next = step === undefined ? undefined : neighbour(layout, step, event.key);
    if (next === undefined) return;
    event.preventDefault();
    goTo(next);
    requestAnimationFrame(() =>
      box.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(next)}"]`)?.focus(),
    );
  };
  return (
    <div className={styles.frame}>
      <div ref={box} className={styles.box}>
        <div className={styles.sheet} style={{ width: layout.width, height: layout.height }}>
          <Edges layout={layout} decisive={decisive} chosen={chosen} isSeen={isSeen} />
          <ol aria-label="Steps" onKeyDown={onKeyDown}>
            {steps.map((step) => {
              const place = places.get(step.id);
              if (!place || !isSeen(place.x, place.x + CARD.width, place.y, place.y + CARD.height))
                return null;
              return (
                <li key={step.id} style={{ left: place.x, top: place.y, ...CARD }}>
                  <Card
                    step={step}
                    told={told}
                    isChosen={step.id === chosen}
                    onChoose={() => onChoose(step.id)}
                  />
                </li>
              );
            })}
          </ol>
        </div>
      </div>
      <MiniMap
        layout={layout}
        view={view}
        steps={steps}
        onGo={(x, y) => scrollTo(box.current, x, y)}
      />
    </div>
  );
}

/** The layout changes only when steps or what they wait for change, never with their state. */
function useLayout(steps: readonly RunStep[]): Layout {
  const shape = JSON.stringify(steps.map(({ id, dependsOn }) => ({ id, dependsOn })));
  return useMemo(() => layoutOf(JSON.parse(shape)), [shape]);
}

type Seen = (left: number, right: number, top: number, bottom: number) => boolean;

function seenBy(view: View, many: number): Seen {
  if (many <= DRAWN_MAX) return () => true;
  return (left, right, top, bottom) =>
    right > view.left - AROUND &&
    left < view.left + view.width + AROUND &&
    bottom > view.top - AROUND &&
    top < view.top + view.height + AROUND;
}

function isInside(box: HTMLElement, { x, y }: { x: number; y: number }): boolean {
  const { scrollLeft, scrollTop, clientWidth, clientHeight } = box;
  return (
    x >= scrollLeft &&
    y >= scrollTop &&
    x + CARD.width <= scrollLeft + clientWidth &&
    y + CARD.height <= scrollTop + clientHeight
  );
}

function scrollTo(box: HTMLElement | null, x: number, y: number): void {
  box?.scrollTo({ left: x - box.clientWidth / 2, top: y - box.clientHeight / 2 });
}

interface EdgesProps {
  layout: Layout;
  decisive: ReadonlySet<string>;
  chosen: string | undefined;
  isSeen: Seen;
}

function Edges({ layout, decisive, chosen, isSeen }: EdgesProps) {
  return (
    <svg className={styles.edges} width={layout.width} height={layout.height} aria-hidden="true">
      {layout.edges.map(({ from, to, points }) => {
        const [first, last] = [points[0], points.at(-1)];
        if (!first || !last) return null;
        const [top, bottom] = [Math.min(first.y, last.y), Math.max(first.y, last.y)];
        if (!isSeen(first.x, last.x, top, bottom)) return null;
        const key = edgeKey(from, to);
        const isNear = from === chosen || to === chosen;
        return (
          <path
            key={key}
            d={pathOf(points)}
            data-edge={key}
            data-decisive={decisive.has(key) || undefined}
            className={classes(
              styles.edge,
              decisive.has(key) && styles.decisive,
              isNear && styles.near,
            )}
          />
        );
      })}
    </svg>
  );
}

interface CardProps {
  step: RunStep;
  told: Told;
  isChosen: boolean;
  onChoose: () => void;
}

function Card({ step, told, isChosen, onChoose }: CardProps) {
  const { way, now } = told;
  const attempts = told.attempts.get(step.id) ?? 0;
  const stack = stackOf(step, attempts);
  const isDecisive = way.includes(step.id);
  const took = tookSeconds(step.startedAt, step.finishedAt, now);
  return (
    <button
      type="button"
      className={classes(styles.card, styles[lookOf(step.state).tone])}
      data-step={step.id}
      data-state={step.state}
      data-stack={stack > 1 ? Math.min(stack, 3) : undefined}
      data-decisive={isDecisive || undefined}
      aria-label={spoken(step, { attempts, isDecisive, now })}
      aria-pressed={isChosen}
      title={step.id}
      onClick={onChoose}
    >
      <span className={styles.top}>
        <bdi className={styles.name}>{step.id}</bdi>
        {isDecisive && <span className={styles.critical}>critical</span>}
      </span>
      <span className={styles.low}>
        <StateBadge state={step.state} />
        {step.kind !== "task" && <span>{step.kind}</span>}
        {attempts > 1 && <span className="tabular">{`×${attempts}`}</span>}
        {step.round > 0 && <span className="tabular">{`↻${step.round}`}</span>}
        {took !== undefined && <span className={styles.took}>{duration(took)}</span>}
      </span>
    </button>
  );
}
