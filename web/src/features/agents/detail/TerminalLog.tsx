import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useAction } from "../../../actions/actions";
import { FILTER } from "../../../actions/common";
import type { Agent, AgentLine } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { classes } from "../../../ui/classes";
import { clockTime, count, fullTime, plural } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { FilterBox, Select } from "../../../ui/PageHead";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { saveAs } from "../../../ui/saveAs";
import { useStored } from "../../../ui/useStored";
import { asText, isOfLevel, LEVELS, type Level } from "../lines";
import { type Log, loadOlder, logQuery } from "../log";
import { ColouredText } from "../terminal/ColouredText";
import { colouredRuns } from "../terminal/runs";
import { PLAIN } from "../terminal/style";
import styles from "./TerminalLog.module.css";
import { useFollow } from "./useFollow";

/** So many of the newest lines are drawn at first, and so many more at a time. */
const STEP = 500;

interface TerminalLogProps {
  agent: Agent;
  /** What stands first in the bar: the way to the shell. */
  tools?: React.ReactNode;
}

/** All that the agent said and did as text, live; to look only. */
export function TerminalLog({ agent, tools }: TerminalLogProps) {
  const query = useQuery(logQuery(agent.id));
  return (
    <Loaded query={query} what="The log" skeleton={<SkeletonRows />}>
      {(log) => <Screen agent={agent} log={log} tools={tools} />}
    </Loaded>
  );
}

function Screen({ agent, log, tools }: TerminalLogProps & { log: Log }) {
  const [search, setSearch] = useState("");
  const [level, setLevel] = useState<Level>("");
  const [isWrapped, setWrapped] = useStored("terminal.wrap", true);
  const [hasTimes, setTimes] = useStored("terminal.times", true);
  const field = useRef<HTMLInputElement>(null);
  useAction(FILTER, () => field.current?.focus(), { title: "Search the log" });
  const found = useMemo(() => linesWith(log.lines, search, level), [log, search, level]);
  const follow = useFollow(found.length);
  const { drawn, older } = useOlder(agent.id, log, found, follow);
  return (
    <div className={styles.screen}>
      <div className={styles.bar}>
        {tools}
        <div className={styles.search}>
          <FilterBox
            ref={field}
            label="Search the log"
            placeholder="Search"
            value={search}
            onChange={setSearch}
          />
        </div>
        <Select
          label="Which lines"
          value={level}
          options={LEVELS}
          onChange={(chosen) => setLevel(chosen as Level)}
        />
        <Count lines={found.length} isCut={log.older !== undefined} />
        <Toggle isOn={hasTimes} onChange={setTimes} text="Times" />
        <Toggle isOn={isWrapped} onChange={setWrapped} text="Wrap" />
        <Toggle
          isOn={follow.isFollowing}
          onChange={(isOn) => (isOn ? follow.toEnd() : follow.stay())}
          text="Follow"
        />
        <Button size="small" look="quiet" onClick={() => download(agent, log.lines)}>
          <Icon name="down" size={14} />
          Raw
        </Button>
      </div>
      <div
        ref={follow.box}
        className={classes(styles.log, isWrapped && styles.wrap)}
        onScroll={follow.onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={`Log of ${agent.label}`}
      >
        {older}
        {drawn.map((line) => (
          <Line key={line.seq} line={line} hasTime={hasTimes} />
        ))}
        <follow.Jump />
      </div>
      <Cli command={`godel agent attach ${agent.label} --watch`} />
    </div>
  );
}

function Count({ lines, isCut }: { lines: number; isCut: boolean }) {
  return (
    <>
      <span className={styles.count} role="status">
        {plural(lines, "line")}
      </span>
      {isCut && (
        <PartialBadge kind="limited" why="Older lines are not read yet; they are above the first" />
      )}
    </>
  );
}

/** The newest lines, and the way to those before them; who reads does not lose the place. */
function useOlder(
  id: string,
  log: Log,
  found: readonly AgentLine[],
  { box, stay }: { box: RefObject<HTMLDivElement | null>; stay: () => void },
) {
  const client = useQueryClient();
  const [most, setMost] = useState(STEP);
  const [isReading, setReading] = useState(false);
  const fromEnd = useRef<number>(undefined);
  const drawn = found.slice(-most);
  const first = drawn[0]?.seq;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another first line moves all others
  useLayoutEffect(() => {
    if (box.current && fromEnd.current !== undefined) {
      box.current.scrollTop = box.current.scrollHeight - fromEnd.current;
    }
    fromEnd.current = undefined;
  }, [first]);
  const hidden = found.length - drawn.length;
  const show = async () => {
    stay();
    if (hidden < STEP && log.older !== undefined) {
      setReading(true);
      await loadOlder(client, id).finally(() => setReading(false));
    }
    if (box.current) fromEnd.current = box.current.scrollHeight - box.current.scrollTop;
    setMost(most + STEP);
  };
  const older = (hidden > 0 || log.older !== undefined) && (
    <div className={styles.older}>
      <Button size="small" disabled={isReading} onClick={show}>
        <Icon name="up" size={14} />
        {log.older === undefined
          ? `Show ${count(Math.min(STEP, hidden))} older lines`
          : "Show older lines"}
      </Button>
    </div>
  );
  return { drawn, older };
}

function Line({ line, hasTime }: { line: AgentLine; hasTime: boolean }) {
  const runs = useMemo(() => colouredRuns(asText(line)), [line]);
  const hasColours = runs.some(({ style }) => style !== PLAIN);
  return (
    <div className={styles.line}>
      {hasTime && (
        <time className={styles.time} dateTime={line.at} title={fullTime(line.at)}>
          {clockTime(line.at).slice(0, 8)}{" "}
        </time>
      )}
      {hasColours ? (
        <span className={styles.coloured}>
          <ColouredText runs={runs} />
        </span>
      ) : (
        <ColouredText runs={runs} />
      )}
    </div>
  );
}

function Toggle({
  isOn,
  onChange,
  text,
}: {
  isOn: boolean;
  onChange: (on: boolean) => void;
  text: string;
}) {
  return (
    <Button size="small" look="quiet" aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      <Icon name={isOn ? "check" : "circle"} size={13} />
      {text}
    </Button>
  );
}

function linesWith(
  lines: readonly AgentLine[],
  search: string,
  level: Level,
): readonly AgentLine[] {
  const text = search.trim().toLowerCase();
  if (text === "" && level === "") return lines;
  return lines.filter(
    (line) => isOfLevel(line, level) && (text === "" || asText(line).toLowerCase().includes(text)),
  );
}

/** One JSON object per line, as `godel agent logs --json` prints it. */
function download(agent: Agent, lines: readonly AgentLine[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`);
  saveAs(`${agent.label}.jsonl`, new Blob(text, { type: "application/x-ndjson" }));
}
