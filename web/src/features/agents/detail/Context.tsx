import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Agent } from "../../../api/types";
import { classes } from "../../../ui/classes";
import { Disclosure } from "../../../ui/Disclosure";
import { Empty } from "../../../ui/Empty";
import { count, plural } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { Meter } from "../../../ui/Meter";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { unknown } from "../context/ContextGauge";
import gauge from "../context/ContextGauge.module.css";
import { TokenChart } from "../context/TokenChart";
import chart from "../context/TokenChart.module.css";
import {
  type Compaction,
  contextIn,
  contextOf,
  fillOf,
  type Held,
  historyOf,
  KIND_TITLES,
  KINDS,
  MOST_STEPS,
  type Step,
  tellsRequests,
} from "../context/usage";
import { type Log, logQuery } from "../log";
import styles from "./Context.module.css";

/** How much the agent has in mind, how that grew, and when it was made shorter. */
export function Context({ agent }: { agent: Agent }) {
  const query = useQuery(logQuery(agent.id));
  return (
    <Loaded query={query} what="The context" skeleton={<SkeletonRows />}>
      {(log) => <Shown agent={agent} log={log} />}
    </Loaded>
  );
}

function Shown({ agent, log }: { agent: Agent; log: Log }) {
  const { steps, compactions, mind } = useMemo(() => historyOf(log.lines), [log]);
  const last = steps.at(-1);
  const cli = `godel agent logs ${agent.label}`;
  if (!last) return <Empty icon="clock" why="It has asked no model yet." cli={cli} />;
  const isByRequest = tellsRequests(agent);
  const noun = isByRequest ? "request" : "turn";
  return (
    <div className={styles.box}>
      <Last step={last} context={contextIn(agent, mind)} agent={agent} />
      <section className={styles.part} aria-label="How it grew">
        <h2>
          The last {plural(steps.length, noun)}{" "}
          {steps.length < MOST_STEPS && log.older !== undefined && (
            <PartialBadge kind="limited" why="Older ones are not read yet" />
          )}
        </h2>
        <TokenChart steps={steps} compactions={compactions} noun={noun} />
      </section>
      <Compactions compactions={compactions} isCut={log.older !== undefined} />
    </div>
  );
}

interface LastProps {
  step: Step;
  /** How much it had in mind; undefined if nobody says. */
  context: Held | undefined;
  agent: Agent;
}

/** How much it has in mind, and the newest request by kind; what sums up a turn is called so. */
function Last({ step, context, agent }: LastProps) {
  const { tokens } = step;
  const isByRequest = tellsRequests(agent);
  const all = contextOf(tokens) + tokens.output;
  return (
    <section className={styles.part} aria-label="Its last request">
      {context !== undefined && (
        <>
          <p className={styles.size}>
            <strong data-context={context.tokens}>{count(context.tokens)}</strong> tokens of context
            in its last request
          </p>
          <Fill agent={agent} context={context} />
        </>
      )}
      {!isByRequest && (
        <p className={context === undefined ? styles.size : styles.note}>
          <strong>{count(contextOf(tokens))}</strong> tokens of input in its last turn
        </p>
      )}
      {context === undefined && (
        <p className={styles.note}>
          {agent.harness} tells only what a whole turn used, so the size of its context is not
          known.
        </p>
      )}
      <div className={styles.bar} aria-hidden="true">
        {KINDS.map((kind) => (
          <span
            key={kind}
            className={chart[kind]}
            style={{ width: `${(tokens[kind] / all) * 100}%` }}
          />
        ))}
      </div>
      <dl className={styles.kinds}>
        {KINDS.map((kind) => (
          <div key={kind} data-kind={kind}>
            <dt>
              <span className={classes(styles.dot, chart[kind])} aria-hidden="true" />
              {KIND_TITLES[kind]}
            </dt>
            <dd>{count(tokens[kind])}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** How full the model is, or why that cannot be told. */
function Fill({ agent, context }: { agent: Agent; context: Held }) {
  const full = fillOf(agent, context);
  if (!full) return <p className={styles.note}>{unknown(agent)}</p>;
  const text = `${full.text} of the ${count(full.most)} tokens that ${agent.model || "its model"} takes`;
  return (
    <div className={styles.fill} data-percent={full.percent}>
      <Meter label="Context" value={context.tokens} max={full.most} text={text} />
      <p className={styles.note}>
        {text}
        {full.warning && <strong className={gauge[full.tone]}>: {full.warning}</strong>}
      </p>
    </div>
  );
}

function Compactions({
  compactions,
  isCut,
}: {
  compactions: readonly Compaction[];
  isCut: boolean;
}) {
  return (
    <section className={styles.part} aria-label="Made shorter">
      <h2>Made shorter</h2>
      {compactions.length === 0 && (
        <p className={styles.note}>
          {isCut
            ? "Not in the part of the log that was read."
            : "Not yet: all of it is as it was said."}
        </p>
      )}
      <ol className={styles.cuts}>
        {compactions.toReversed().map(({ seq, at, summary }) => (
          <li key={seq}>
            <Time at={at} />
            {summary !== "" && (
              <Disclosure label="What stands for it">
                <p className={styles.summary}>{summary}</p>
              </Disclosure>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
