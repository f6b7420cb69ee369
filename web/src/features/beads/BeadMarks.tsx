import type { Bead } from "../../api/types";
import { classes } from "../../ui/classes";
import { words } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Badge, Status } from "../../ui/Status";
import styles from "./BeadMarks.module.css";
import { type Reason, sayReason } from "./graph";
import {
  PRIORITY_LOOKS,
  priorityOf,
  resolutionOf,
  STATUS_LOOKS,
  statusOf,
  TYPE_ICONS,
} from "./looks";

/** How far a bead is, as icon and word; how it was closed, if not as done. */
export function StatusMark({ bead }: { bead: Bead }) {
  const { title, tone, icon } = STATUS_LOOKS[statusOf(bead)];
  const kind = statusOf(bead) === "done" ? resolutionOf(bead) : undefined;
  if (kind === "wont-do" || kind === "duplicate") {
    return (
      <Status tone="plain" icon="cross">
        {kind === "wont-do" ? "Won’t do" : "Duplicate"}
      </Status>
    );
  }
  return (
    <Status tone={tone} icon={icon}>
      {title}
    </Status>
  );
}

/** Bars that grow, as the lines of a path. */
const barsOf = (from: number, to: number) =>
  [1, 2, 3, 4]
    .filter((bar) => from <= bar && bar <= to)
    .map((bar) => `M${(bar - 1) * 3.5} 12v${bar * -3}h2.5v${bar * 3}z`)
    .join("");

/** How urgent it is: bars like those of a radio, and the word. */
export function PriorityMark({ bead, isShort = false }: { bead: Bead; isShort?: boolean }) {
  const { title, bars, tone } = PRIORITY_LOOKS[priorityOf(bead)];
  return (
    <span className={classes(styles.priority, styles[tone])} title={`Priority: ${title}`}>
      <svg width="14" height="12" viewBox="0 0 14 12" aria-hidden="true">
        <path d={barsOf(1, bars)} />
        {bars < 4 && <path d={barsOf(bars + 1, 4)} opacity="0.25" />}
      </svg>
      <span className={isShort ? "visually-hidden" : undefined}>{title}</span>
    </span>
  );
}

/** What kind of work it is. */
export function TypeMark({ type, isShort = false }: { type: string; isShort?: boolean }) {
  return (
    <span className={styles.type} title={words(type)}>
      <Icon name={TYPE_ICONS[type] ?? "circle"} size={13} />
      <span className={isShort ? "visually-hidden" : undefined}>{words(type)}</span>
    </span>
  );
}

/** A lock, and what it waits on. */
export function LockMark({ holds, isShort }: { holds: readonly Reason[]; isShort?: boolean }) {
  const [first] = holds;
  if (!first) return null;
  const on = first.why === "waits" ? first.on.id : first.why === "part" ? first.of.id : "a date";
  const more = holds.length > 1 ? ` +${holds.length - 1}` : "";
  return (
    <Badge tone="warn" icon="lock" title={holds.map(sayReason).join(" ")}>
      <span className={styles.waits}>
        {!isShort && "waits on "}
        {on}
        {more}
      </span>
    </Badge>
  );
}

/** Who works on it. */
export function AgentMark({ agent }: { agent: string | null | undefined }) {
  if (!agent) return <span className={styles.nobody}>nobody</span>;
  return (
    <span className={styles.agent} title={agent}>
      <Icon name={agent.startsWith("user:") ? "person" : "agents"} size={13} />
      <span className={styles.cut}>{agent.replace(/^user:/, "")}</span>
    </span>
  );
}
