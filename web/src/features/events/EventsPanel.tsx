import { useEffect, useId, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { FILTER } from "../../actions/common";
import { patternFromInput } from "../../realtime/pattern";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { plural, shortId } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Notice } from "../../ui/Notice";
import { Sentence } from "../../ui/Sentence";
import { EventRows } from "./EventRows";
import styles from "./EventsPanel.module.css";
import { RateChart } from "./RateChart";
import type { EventStream } from "./useEventStream";

const TYPING_PAUSE_MS = 250;

interface EventsPanelProps {
  stream: EventStream;
  pattern: string;
  onPattern: (pattern: string) => void;
  /** Only events of this trace, such as those that came of one request. */
  trace?: string | undefined;
  /** Shows the events of all traces again. */
  onAll: () => void;
}

/** The live log: newest first, filtered by pattern, still while someone reads. */
export function EventsPanel({ stream, pattern, onPattern, trace, onAll }: EventsPanelProps) {
  const { list, connection, hold, showHeld } = stream;
  const [isPaused, setPaused] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [topSignal, setTopSignal] = useState(0);

  useEffect(() => hold(isPaused || isBusy), [hold, isPaused, isBusy]);

  const toTop = () => {
    showHeld();
    setTopSignal((signal) => signal + 1);
  };
  return (
    <section className={styles.panel} aria-labelledby="events-title">
      <div className={styles.head}>
        <div className={styles.titles}>
          <h2 id="events-title" className={styles.title}>
            Events
          </h2>
          <p className={styles.count}>{plural(list.received, "event")}</p>
        </div>
        <RateChart rate={stream.rate} />
        <div className={styles.tools}>
          {trace !== undefined && (
            <Button aria-label={`Show more than trace ${trace}`} title={trace} onClick={onAll}>
              Trace {shortId(trace)}
              <Icon name="clear" size={13} />
            </Button>
          )}
          <PatternBox pattern={pattern} onPattern={onPattern} />
          <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            <Icon name={isPaused ? "play" : "pause"} size={15} />
            {isPaused ? "Resume" : "Pause"}
          </Button>
        </div>
      </div>
      {connection.phase === "refused" && (
        <div className={styles.refusal}>
          <Notice tone="bad">
            <Sentence text={connection.refusal.message} />{" "}
            {connection.refusal.hint && <Sentence text={connection.refusal.hint} />}
          </Notice>
        </div>
      )}
      <div className={styles.columns} aria-hidden="true">
        <span />
        <span>Time</span>
        <span>Type</span>
        <span>Payload</span>
        <span>Source</span>
        <span>Sequence</span>
      </div>
      <div className={styles.body}>
        {list.heldCount > 0 && (
          <button type="button" className={styles.fresh} onClick={toTop}>
            <Icon name="up" size={14} />
            {plural(list.heldCount, "new event")}
          </button>
        )}
        {list.rows.length > 0 ? (
          <EventRows rows={list.rows} onBusy={setBusy} topSignal={topSignal} />
        ) : (
          <Nothing
            pattern={pattern}
            isOfTrace={trace !== undefined}
            isLive={connection.phase === "live"}
            onPattern={onPattern}
            onAll={onAll}
          />
        )}
      </div>
    </section>
  );
}

/** The filter: takes effect shortly after the last key, and tells what it cannot read. */
function PatternBox({
  pattern,
  onPattern,
}: {
  pattern: string;
  onPattern: (pattern: string) => void;
}) {
  const [text, setText] = useState(pattern === "*" ? "" : pattern);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const wanted = patternFromInput(text);

  // A pattern set elsewhere (the Clear button, the address) shows up here.
  const [seen, setSeen] = useState(pattern);
  if (seen !== pattern) {
    setSeen(pattern);
    if (wanted !== pattern) setText(pattern === "*" ? "" : pattern);
  }

  useEffect(() => {
    if (wanted === undefined || wanted === pattern) return;
    const timer = setTimeout(() => onPattern(wanted), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted, pattern, onPattern]);

  useAction(FILTER, () => input.current?.focus());

  return (
    <div className={styles.filter} data-invalid={wanted === undefined || undefined}>
      <label htmlFor={id} className="visually-hidden">
        Filter by type pattern
      </label>
      <Icon name="filter" size={15} />
      <input
        ref={input}
        id={id}
        className={styles.input}
        value={text}
        placeholder="All types, or agent:*"
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={wanted === undefined}
        aria-describedby={`${id}-help`}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setText("")}
      />
      {text === "" ? (
        <span className={styles.key} aria-hidden="true">
          /
        </span>
      ) : (
        <button
          type="button"
          className={styles.clear}
          aria-label="Clear the filter"
          onClick={() => setText("")}
        >
          <Icon name="clear" size={14} />
        </button>
      )}
      <p id={`${id}-help`} className={wanted === undefined ? styles.help : "visually-hidden"}>
        Words joined by colons; a star stands for any word, as in <code>agent:*</code>
      </p>
    </div>
  );
}

interface NothingProps extends Pick<EventsPanelProps, "pattern" | "onPattern" | "onAll"> {
  isOfTrace: boolean;
  isLive: boolean;
}

function Nothing({ pattern, isOfTrace, isLive, onPattern, onAll }: NothingProps) {
  if (!isLive) return <p className={styles.nothing}>Waiting for the connection.</p>;
  if (isOfTrace) {
    return (
      <div className={styles.nothing}>
        <p>No event came of this request: what only reads, or is refused, changes nothing.</p>
        <Button onClick={onAll}>Show all events</Button>
      </div>
    );
  }
  if (pattern !== "*") {
    return (
      <div className={styles.nothing}>
        <p>
          No recent event matches <code>{pattern}</code>. New ones will show up here.
        </p>
        <Button onClick={() => onPattern("*")}>Clear the filter</Button>
      </div>
    );
  }
  const command = `curl -X POST ${window.location.origin}/api/v1/events \\
  -H "X-API-Key: $GODEL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"type":"demo:hello","payload":{}}'`;
  return (
    <div className={styles.nothing}>
      <p>Nothing has happened yet. Publish the first event:</p>
      <div className={styles.command}>
        <pre>{command}</pre>
        <CopyButton text={command} />
      </div>
    </div>
  );
}
