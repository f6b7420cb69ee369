import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { useAction } from "../../../actions/actions";
import { FILTER } from "../../../actions/common";
import type { Agent, AgentLine } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { tellRefusal } from "../../../change/useChange";
import { useChoice, useParam } from "../../../router/router";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { classes } from "../../../ui/classes";
import { EmptyFilter } from "../../../ui/Empty";
import { type Flow, useFlow } from "../../../ui/flow/useFlow";
import { clockTime, count, fullTime, plural } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { FilterBox, Select } from "../../../ui/PageHead";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { saveAs } from "../../../ui/saveAs";
import { useStored } from "../../../ui/useStored";
import { asText, isOfLevel, LEVELS, type Level } from "../lines";
import { type Log, linesBefore, loadOlder, logQuery, RING } from "../log";
import { ColouredText } from "../terminal/ColouredText";
import { colouredRuns } from "../terminal/runs";
import { PLAIN } from "../terminal/style";
import styles from "./TerminalLog.module.css";
import { useFollow } from "./useFollow";

const LEVEL_NAMES = LEVELS.map(([name]) => name);

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
  const [search = "", setSearch] = useParam("find");
  const [level, setLevel] = useChoice("level", LEVEL_NAMES, "");
  const [isWrapped, setWrapped] = useStored("terminal.wrap", true);
  const [hasTimes, setTimes] = useStored("terminal.times", true);
  const field = useRef<HTMLInputElement>(null);
  useAction(FILTER, () => field.current?.focus(), { title: "Search the log" });
  const found = useMemo(() => linesWith(log.lines, search, level), [log, search, level]);
  const follow = useFollow(found.length);
  const { flow, older, onScroll } = useOlder(agent, log, found, follow);
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
        <Count
          found={found.length}
          read={log.lines.length}
          isCut={log.older !== undefined}
          isNarrowed={found !== log.lines}
        />
        <Toggle isOn={hasTimes} onChange={setTimes} text="Times" />
        <Toggle isOn={isWrapped} onChange={setWrapped} text="Wrap" />
        <Toggle
          isOn={follow.isFollowing}
          onChange={(isOn) => (isOn ? follow.toEnd() : follow.stay())}
          text="Follow"
        />
        <Download agent={agent} log={log} />
      </div>
      <div
        ref={follow.box}
        className={classes(styles.log, isWrapped && styles.wrap)}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={`Log of ${agent.label}`}
      >
        {older}
        {found.length === 0 && log.lines.length > 0 && (
          <EmptyFilter
            what="lines"
            onClear={() => {
              setSearch(undefined);
              setLevel("");
            }}
          />
        )}
        <div className={styles.all} style={{ height: flow.total }}>
          {found.slice(flow.first, flow.end).map((line, index) => (
            <Line
              key={line.seq}
              line={line}
              hasTime={hasTimes}
              top={flow.offsets[flow.first + index] ?? 0}
              measure={flow.measure}
            />
          ))}
        </div>
        <follow.Jump />
      </div>
      <Cli command={`godel agent attach ${agent.label} --watch`} />
    </div>
  );
}

interface CountProps {
  found: number;
  read: number;
  /** There are older lines that the page does not have. */
  isCut: boolean;
  isNarrowed: boolean;
}

function Count({ found, read, isCut, isNarrowed }: CountProps) {
  return (
    <>
      <span className={styles.count} role="status">
        {isCut && isNarrowed
          ? `${count(found)} of the ${plural(read, "line")} read`
          : plural(found, "line")}
      </span>
      {isCut && (
        <PartialBadge
          kind="limited"
          why="Older lines are not read yet, so they are not searched; they are above the first"
        />
      )}
    </>
  );
}

/** The whole log as a file: what the page has, and all before it, which is read first. */
function Download({ agent, log }: { agent: Agent; log: Log }) {
  const [read, setRead] = useState<number>();
  const save = async () => {
    setRead(0);
    try {
      const before = await linesBefore(agent.id, log.older, setRead);
      download(agent, [...before, ...log.lines]);
    } catch (error) {
      tellRefusal(`Read the whole log of ${agent.label}`, error as Error, save);
    } finally {
      setRead(undefined);
    }
  };
  return (
    <Button size="small" look="quiet" disabled={read !== undefined} onClick={save}>
      <Icon name="down" size={14} />
      {read ? `Raw, ${count(read)} older lines` : "Raw"}
    </Button>
  );
}

/** Nearer to the first line than this, older ones are read. */
const NEAR_PX = 400;
/** A line that is not broken, as the style sheet has it. */
const LINE_PX = 12.5 * 1.55;

/** Draws the lines in sight and reads older ones at the top; who reads does not lose the place. */
function useOlder(
  agent: Agent,
  log: Log,
  found: readonly AgentLine[],
  { box, isFollowing, onScroll, stay }: ReturnType<typeof useFollow>,
) {
  const client = useQueryClient();
  const [isReading, setReading] = useState(false);
  const items = useMemo(
    () => found.map(({ seq }) => ({ key: String(seq), estimate: LINE_PX })),
    [found],
  );
  const flow = useFlow(box, items, { holdsTop: true });
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines that turn out higher move the end
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [flow.total, isFollowing, box]);
  const isFull = log.lines.length >= RING;
  const canRead = log.older !== undefined && !isFull;
  const read = () => {
    if (!canRead || isReading) return;
    stay();
    setReading(true);
    void loadOlder(client, agent.id)
      .catch((error: Error) =>
        toast({ tone: "bad", title: "No older lines could be read", detail: error.message }),
      )
      .finally(() => setReading(false));
  };
  const scrolled = () => {
    onScroll();
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {};
    if (scrollTop < NEAR_PX && scrollHeight > clientHeight) read();
  };
  const older = (
    <>
      {canRead && (
        <div className={styles.older}>
          <Button size="small" disabled={isReading} onClick={read}>
            <Icon name="up" size={14} />
            Show older lines
          </Button>
        </div>
      )}
      {isFull && log.older !== undefined && (
        <div className={styles.older}>
          <PartialBadge
            kind="limited"
            why={`The page keeps ${count(RING)} lines; those before are told by godel agent logs ${agent.label} --before ${log.older}`}
          />
        </div>
      )}
    </>
  );
  return { flow, older, onScroll: scrolled };
}

interface LineProps {
  line: AgentLine;
  hasTime: boolean;
  top: number;
  measure: Flow["measure"];
}

function Line({ line, hasTime, top, measure }: LineProps) {
  const runs = useMemo(() => colouredRuns(asText(line)), [line]);
  const hasColours = runs.some(({ style }) => style !== PLAIN);
  const element = useRef<HTMLDivElement>(null);
  const key = String(line.seq);
  useLayoutEffect(
    () => (element.current ? measure(element.current, { key, estimate: LINE_PX }) : undefined),
    [measure, key],
  );
  return (
    <div ref={element} className={styles.line} style={{ top }} data-seq={line.seq}>
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
