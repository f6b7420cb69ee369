import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Agent, AgentLine } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { useCalm } from "../../../ui/calm";
import { Empty } from "../../../ui/Empty";
import { clockTime, count, fullTime } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { NewRows } from "../../../ui/NewRows";
import { SkeletonRows } from "../../../ui/Skeleton";
import { usePresence } from "../../../ui/usePresence";
import { JsonText } from "../../events/JsonText";
import { logQuery } from "../log";
import styles from "./LogEvents.module.css";

const STEP = 150;

/** Every event of the agent with all it carries, the newest first. */
export function LogEvents({ agent }: { agent: Agent }) {
  const query = useQuery(logQuery(agent.id));
  const [most, setMost] = useState(STEP);
  return (
    <Loaded query={query} what="The events" skeleton={<SkeletonRows />}>
      {({ lines }) => {
        if (lines.length === 0) {
          const cli = `godel agent logs ${agent.label}`;
          return <Empty icon="clock" why="Nothing has happened yet." cli={cli} />;
        }
        return (
          <div className={styles.box}>
            <Events lines={lines.slice(-most).toReversed()} />
            {lines.length > most && (
              <Button size="small" onClick={() => setMost(most + STEP)}>
                Show {count(Math.min(STEP, lines.length - most))} earlier
              </Button>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

const keyOf = ({ seq }: AgentLine) => String(seq);

/** The lines; new ones wait while somebody is among them, for each is a button that opens. */
function Events({ lines }: { lines: readonly AgentLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const calm = useCalm(lines, keyOf, usePresence(box));
  return (
    <div ref={box}>
      <NewRows waiting={calm.waiting} noun="event" onShow={calm.show} />
      <ol aria-label="Events of the agent">
        {calm.rows.map((line) => (
          <EventLine key={line.seq} line={line} />
        ))}
      </ol>
    </div>
  );
}

function EventLine({ line }: { line: AgentLine }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className={styles.event} data-event={line.seq}>
      <button
        type="button"
        className={styles.head}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <time dateTime={line.at} title={fullTime(line.at)}>
          {clockTime(line.at)}
        </time>
        <code>{line.type}</code>
        <span className={styles.brief}>{JSON.stringify(line.payload).slice(0, 200)}</span>
        <span className={styles.seq}>{count(line.seq)}</span>
      </button>
      {isOpen && <JsonText value={line.payload} />}
    </li>
  );
}
