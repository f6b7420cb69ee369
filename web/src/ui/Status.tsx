import type { ReactNode } from "react";
import { classes } from "./classes";
import { Icon, type IconName } from "./Icon";
import styles from "./Status.module.css";

/** What a colour means; it is never alone. */
export type Tone = "plain" | "ok" | "warn" | "bad" | "info";

/** A state in a word with its sign. */
export function Status({
  tone,
  icon,
  children,
}: {
  tone: Tone;
  icon: IconName;
  children: ReactNode;
}) {
  return (
    <span className={classes(styles.status, styles[tone])}>
      <Icon name={icon} size={13} />
      {children}
    </span>
  );
}

/** A short fact in a pill. */
export function Badge({
  tone = "plain",
  icon,
  title,
  children,
}: {
  tone?: Tone;
  icon?: IconName;
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={classes(styles.badge, styles[tone])} title={title}>
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

const KINDS = {
  stale: "Not up to date",
  sampled: "A sample",
  limited: "Not all",
  permission: "Not for your role",
} as const;

/** Says that something is not the whole truth, and which part of it is missing. */
export function PartialBadge({ kind, why }: { kind: keyof typeof KINDS; why: string }) {
  return (
    <Badge tone="warn" icon="alert" title={why}>
      {KINDS[kind]}
      <span className="visually-hidden">: {why}</span>
    </Badge>
  );
}

/** Says that there will be more in a moment; so narrow that nothing beside it moves. */
export function Arriving() {
  return (
    <span title="The rest is on its way">
      <span aria-hidden="true">…</span>
      <span className="visually-hidden"> The rest is on its way</span>
    </span>
  );
}
