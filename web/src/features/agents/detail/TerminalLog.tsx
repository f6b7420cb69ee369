import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Agent, AgentLine } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { classes } from "../../../ui/classes";
import { clockTime, plural } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { FilterBox } from "../../../ui/PageHead";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { useStored } from "../../../ui/useStored";
import { asText } from "../lines";
import { type Log, logQuery } from "../log";
import styles from "./TerminalLog.module.css";
import { useFollow } from "./useFollow";

/** So many of the newest lines are drawn; the file has all. */
const MOST_DRAWN = 2_000;

/** All that the agent said and did as text, live; to look only. */
export function TerminalLog({ agent }: { agent: Agent }) {
  const query = useQuery(logQuery(agent.id));
  return (
    <Loaded query={query} what="The log" skeleton={<SkeletonRows />}>
      {(log) => <Screen agent={agent} log={log} />}
    </Loaded>
  );
}

function Screen({ agent, log }: { agent: Agent; log: Log }) {
  const [search, setSearch] = useState("");
  const [isWrapped, setWrapped] = useStored("terminal.wrap", true);
  const [hasTimes, setTimes] = useStored("terminal.times", true);
  const found = useMemo(() => linesWith(log.lines, search), [log, search]);
  const drawn = found.slice(-MOST_DRAWN);
  const follow = useFollow(found.length);
  return (
    <div className={styles.screen}>
      <div className={styles.bar}>
        <FilterBox
          label="Search the log"
          placeholder="Search"
          value={search}
          onChange={setSearch}
        />
        <span className={styles.count} role="status">
          {plural(found.length, "line")}
        </span>
        {(log.isCut || drawn.length < found.length) && (
          <PartialBadge kind="limited" why="The log is longer than what is shown" />
        )}
        <Toggle isOn={hasTimes} onChange={setTimes} text="Times" />
        <Toggle isOn={isWrapped} onChange={setWrapped} text="Wrap" />
        <Toggle isOn={follow.isFollowing} onChange={() => follow.toEnd()} text="Follow" />
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
        {drawn.map((line) => (
          <div key={line.seq} className={styles.line}>
            {hasTimes && <span className={styles.time}>{clockTime(line.at).slice(0, 8)} </span>}
            {asText(line)}
          </div>
        ))}
        <follow.Jump />
      </div>
      <Cli command={`godel agent attach ${agent.label} --watch`} />
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

function linesWith(lines: readonly AgentLine[], search: string): readonly AgentLine[] {
  const text = search.trim().toLowerCase();
  if (text === "") return lines;
  return lines.filter((line) => asText(line).toLowerCase().includes(text));
}

/** One JSON object per line, as `godel agent logs --json` prints it. */
function download(agent: Agent, lines: readonly AgentLine[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`);
  const url = URL.createObjectURL(new Blob(text, { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${agent.label}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
