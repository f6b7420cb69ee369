import { type CSSProperties, type ReactNode, useRef } from "react";
import { useAction } from "../../actions/actions";
import { PANE_AFTER, PANE_BEFORE } from "../../actions/common";
import { useChoice } from "../../router/router";
import { PaneBorder } from "../../ui/PaneBorder";
import { Segmented } from "../../ui/Tabs";
import { useStored } from "../../ui/useStored";
import styles from "./Panes.module.css";

const PANES = ["queue", "diff", "talk"] as const;
type PaneName = (typeof PANES)[number];

const TITLES: Record<PaneName, string> = { queue: "Queue", diff: "Changes", talk: "Conversation" };
const WIDTHS = { queue: 264, talk: 320 };
const MOST = 560;

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
        <PaneBorder
          label="Width of the queue"
          width={widths.queue}
          most={MOST}
          sign={1}
          onChange={(width) => setWidths({ ...widths, queue: width })}
        />
        {pane("diff", diff)}
        <PaneBorder
          label="Width of the conversation"
          width={widths.talk}
          most={MOST}
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
