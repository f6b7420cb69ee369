import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useRef,
} from "react";
import { useAction } from "../../actions/actions";
import { PANE_AFTER, PANE_BEFORE } from "../../actions/common";
import { useChoice } from "../../router/router";
import { Segmented } from "../../ui/Tabs";
import { useStored } from "../../ui/useStored";
import styles from "./Panes.module.css";

const PANES = ["queue", "diff", "talk"] as const;
type PaneName = (typeof PANES)[number];

const TITLES: Record<PaneName, string> = { queue: "Queue", diff: "Changes", talk: "Conversation" };
const WIDTHS = { queue: 264, talk: 320 };
const LEAST = 180;
const MOST = 560;
/** How far an arrow key moves a border. */
const STEP = 24;

interface PanesProps {
  /** What is shown first where only one fits. */
  front: PaneName;
  queue: ReactNode;
  diff: ReactNode;
  talk: ReactNode;
}

/** Queue, change and conversation beside each other; a narrow page shows one at a time. */
export function Panes({ front, queue, diff, talk }: PanesProps) {
  const [widths, setWidths] = useStored("review.panes", WIDTHS);
  const [shown, show] = useChoice("pane", PANES, front);
  const box = useRef<HTMLDivElement>(null);
  const step = (by: number) => {
    const panes = [...(box.current?.querySelectorAll<HTMLElement>("[data-pane]") ?? [])];
    const here = panes.findIndex((pane) => pane.contains(document.activeElement));
    const from = here < 0 ? 1 : here;
    const next = panes[(from + by + panes.length) % panes.length];
    const name = PANES.find((one) => one === next?.dataset.pane);
    if (name) show(name);
    next?.focus();
  };
  useAction(PANE_BEFORE, () => step(-1));
  useAction(PANE_AFTER, () => step(1));
  const pane = (name: PaneName, content: ReactNode, width?: number) => (
    <section
      className={styles.pane}
      data-pane={name}
      data-shown={shown === name || undefined}
      aria-label={TITLES[name]}
      tabIndex={-1}
      style={width === undefined ? undefined : widthStyle(width)}
    >
      {content}
    </section>
  );
  return (
    <>
      <div className={styles.switch}>
        <Segmented
          label="Pane"
          options={PANES.map((id) => ({ id, title: TITLES[id] }))}
          value={shown}
          onChange={show}
        />
      </div>
      <div ref={box} className={styles.panes}>
        {pane("queue", queue, widths.queue)}
        <Border
          label="Width of the queue"
          width={widths.queue}
          sign={1}
          onChange={(width) => setWidths({ ...widths, queue: width })}
        />
        {pane("diff", diff)}
        <Border
          label="Width of the conversation"
          width={widths.talk}
          sign={-1}
          onChange={(width) => setWidths({ ...widths, talk: width })}
        />
        {pane("talk", talk, widths.talk)}
      </div>
    </>
  );
}

/** A chosen width is for wide pages only, so the style sheet has the last word. */
function widthStyle(width: number): CSSProperties {
  return { "--pane-width": `${width}px` } as CSSProperties;
}

interface BorderProps {
  label: string;
  width: number;
  /** Whether the pane grows to the right or to the left. */
  sign: 1 | -1;
  onChange: (width: number) => void;
}

/** The border of a pane: drawn with the pointer, moved with arrow keys. */
function Border({ label, width, sign, onChange }: BorderProps) {
  const from = useRef<{ x: number; width: number } | undefined>(undefined);
  const set = (next: number) => onChange(Math.round(Math.min(MOST, Math.max(LEAST, next))));
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(width + sign * by);
  };
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (from.current) set(from.current.width + sign * (clientX - from.current.x));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a border that can be moved is no thematic break
    <div
      className={styles.border}
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width };
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        from.current = undefined;
      }}
    />
  );
}
