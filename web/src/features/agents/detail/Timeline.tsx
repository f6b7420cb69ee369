import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Agent, AgentLine, Notice } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { Empty } from "../../../ui/Empty";
import { clockTime, count, fullTime } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge, Status } from "../../../ui/Status";
import { Told } from "../../../ui/Told";
import { NoticeCard } from "../../inbox/NoticeCard";
import { useNoticesOf } from "../../inbox/queries";
import { isWorthTelling, tell } from "../lines";
import { type Log, logQuery } from "../log";
import styles from "./Timeline.module.css";
import { useFollow } from "./useFollow";

/** So many of the newest lines are drawn at first, and more by the button. */
const STEP = 150;
/** A longer text opens by a click. */
const SHORT_CHARS = 400;

/** What the agent did, the newest last; questions stand under the action that asked. */
export function Timeline({ agent }: { agent: Agent }) {
  const query = useQuery(logQuery(agent.id));
  return (
    <Loaded query={query} what="The timeline" skeleton={<SkeletonRows />}>
      {(log) => <Lines agent={agent} log={log} />}
    </Loaded>
  );
}

function Lines({ agent, log }: { agent: Agent; log: Log }) {
  const notices = useNoticesOf(agent.id);
  const [most, setMost] = useState(STEP);
  const lines = useMemo(() => log.lines.filter(isWorthTelling), [log]);
  const shown = lines.slice(-most);
  const follow = useFollow(lines.length);
  const asked = new Map(notices.map((notice) => [notice.id, notice]));
  const inLog = new Set(shown.map(noticeIdOf));
  const others = notices.filter((notice) => !inLog.has(notice.id));
  if (lines.length === 0 && notices.length === 0) {
    return (
      <Empty
        icon="clock"
        why="Nothing has happened yet; it waits for its turn."
        cli={`godel agent logs ${agent.label}`}
      />
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
    <div ref={follow.box} className={styles.box} onScroll={follow.onScroll} tabIndex={0}>
      {log.older !== undefined && (
        <PartialBadge kind="limited" why="The log is longer than what is shown" />
      )}
      {shown.length < lines.length && (
        <Button size="small" onClick={() => setMost(most + STEP)}>
          Show {count(Math.min(STEP, lines.length - shown.length))} earlier
        </Button>
      )}
      <ol className={styles.lines} aria-label="Timeline">
        {shown.map((line) => (
          <Line key={line.seq} line={line} notice={asked.get(noticeIdOf(line) ?? "")} />
        ))}
      </ol>
      {others.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} isOwn />
      ))}
      <follow.Jump />
    </div>
  );
}

/** The notice that a line raised, if it did. */
function noticeIdOf({ type, payload }: AgentLine): string | undefined {
  if (type !== "agent:needs:person") return undefined;
  const { notice } = payload as { notice?: unknown };
  return typeof notice === "string" ? notice : undefined;
}

function Line({ line, notice }: { line: AgentLine; notice: Notice | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { icon, tone, head, text } = tell(line);
  const isLong = text.length > SHORT_CHARS;
  return (
    <li className={styles.line} data-line={line.type}>
      <time className={styles.when} dateTime={line.at} title={fullTime(line.at)}>
        {clockTime(line.at).slice(0, 8)}
      </time>
      <Status tone={tone} icon={icon}>
        {head}
      </Status>
      <div className={styles.what}>
        {notice ? (
          <NoticeCard notice={notice} isOwn />
        ) : (
          <p className={line.type.startsWith("agent:tool") ? styles.code : styles.text}>
            {line.type === "agent:commit" ? (
              <Told text={text} />
            ) : isLong && !isOpen ? (
              `${text.slice(0, SHORT_CHARS)}…`
            ) : (
              text
            )}
          </p>
        )}
        {isLong && (
          <Button look="quiet" size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Less" : "All of it"}
          </Button>
        )}
      </div>
    </li>
  );
}
