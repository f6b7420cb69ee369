import { type CSSProperties, memo, type Ref } from "react";
import type { GodelEvent } from "../../api/types";
import type { Gap } from "../../realtime/protocol";
import { CopyButton } from "../../ui/CopyButton";
import { type Fact, FactText } from "../../ui/Facts";
import { clockTime, count, fullTime, plural, words } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import styles from "./EventRow.module.css";
import type { Row } from "./eventList";
import { JsonText } from "./JsonText";

const PREVIEW_CHARS = 160;

interface EventRowProps {
  row: Row;
  isOpen: boolean;
  isTabStop: boolean;
  onToggle: (key: string) => void;
  detailsRef: Ref<HTMLDivElement>;
}

/** One line of the stream; open, it shows the whole event below. */
export const EventRow = memo(function EventRow({ row, ...rest }: EventRowProps) {
  if (row.kind === "gap") return <GapLine gap={row.gap} />;
  return <EventLine event={row.event} rowKey={row.key} {...rest} />;
});

function EventLine({
  event,
  rowKey,
  isOpen,
  isTabStop,
  onToggle,
  detailsRef,
}: { event: GodelEvent; rowKey: string } & Omit<EventRowProps, "row">) {
  const namespace = event.type.split(":", 1)[0] ?? "";
  return (
    <>
      <button
        type="button"
        className={styles.line}
        aria-expanded={isOpen}
        tabIndex={isTabStop ? 0 : -1}
        data-row={rowKey}
        onClick={() => onToggle(rowKey)}
      >
        <span className={styles.chevron}>
          <Icon name="chevron" size={14} />
        </span>
        <time className={styles.time} dateTime={event.timestamp} title={fullTime(event.timestamp)}>
          {clockTime(event.timestamp)}
        </time>
        <span className={styles.type} style={hueOf(namespace)}>
          <span className={styles.namespace}>{namespace}</span>
          {event.type.slice(namespace.length)}
        </span>
        <span className={styles.preview}>{preview(event.payload)}</span>
        <span className={styles.source}>{sourceName(event)}</span>
        <span className={styles.sequence}>{event.sequence}</span>
      </button>
      {isOpen && (
        <div className={styles.details} ref={detailsRef}>
          <Details event={event} />
        </div>
      )}
    </>
  );
}

function Details({ event }: { event: GodelEvent }) {
  const { component, instance, version } = event.source;
  const facts: Fact[] = [
    ["Event", { id: event.id }],
    ["Source", [component, instance, version].filter(Boolean).join(" ")],
    ["Time", { at: event.timestamp }],
    ...Object.entries(event.metadata).map(([name, id]): Fact => [words(name), id ? { id } : ""]),
  ];
  return (
    <div className={styles.sheet}>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>
              <FactText value={value} />
            </dd>
          </div>
        ))}
      </dl>
      <div className={styles.payload}>
        <div className={styles.payloadHead}>
          <span>Payload</span>
          <CopyButton text={JSON.stringify(event, null, 2)} label="Copy event" />
        </div>
        <JsonText value={event.payload} />
      </div>
    </div>
  );
}

const GAP_REASONS: Record<Gap["reason"], string> = {
  slow: "this page could not keep up",
  retention: "they are older than the log keeps",
  missing: "the server did not send them",
};

function GapLine({ gap }: { gap: Gap }) {
  const { fromSequence, toSequence, reason } = gap;
  const missing = toSequence - fromSequence + 1;
  return (
    <div className={styles.gap}>
      <Icon name="alert" size={15} />
      <span>
        {plural(missing, "event")} not shown ({count(fromSequence)} to {count(toSequence)}):{" "}
        {GAP_REASONS[reason]}
      </span>
    </div>
  );
}

function sourceName({ source }: GodelEvent): string {
  return source.instance ? `${source.component}/${source.instance}` : source.component;
}

/** The payload in one line: `attempt 2  task 0198f2`. */
function preview(payload: GodelEvent["payload"]): string {
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(payload)) {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    parts.push(`${name} ${text}`.slice(0, PREVIEW_CHARS));
    length += text.length + name.length;
    if (length > PREVIEW_CHARS) break;
  }
  return parts.join("   ");
}

/** Hues far enough apart to tell, without the red that means trouble. */
const HUES = [150, 195, 230, 262, 295, 325, 350, 60, 95, 125];

/** A steady colour per namespace, so that the eye can follow one. */
function hueOf(namespace: string): CSSProperties {
  let hash = 0;
  for (const char of namespace) hash = (hash * 293 + (char.codePointAt(0) ?? 0)) % 65_521;
  return { "--hue": HUES[hash % HUES.length] } as CSSProperties;
}
