import { useQuery } from "@tanstack/react-query";
import type { Run, RunStep, RunStepRound, TaskDetail } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { useNotAsked } from "../../../roles/asked";
import { Guarded } from "../../../roles/Guarded";
import { Link } from "../../../router/Link";
import { Cli } from "../../../ui/Cli";
import { Disclosure } from "../../../ui/Disclosure";
import { SidePanel } from "../../../ui/Drawer";
import { Facts } from "../../../ui/Facts";
import { duration, plural, shellWord } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import panel from "../../../ui/Panel.module.css";
import { SkeletonRows } from "../../../ui/Skeleton";
import { PartialBadge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { returnDraft, useDraft } from "../../../ui/useDraft";
import { JsonText } from "../../events/JsonText";
import { queueQueries } from "../queries";
import { StateBadge } from "../StateBadge";
import { tookSeconds } from "../states";
import { useForeignRun } from "../useForeignRun";
import { useAnswerStep, useRetryStep } from "./changes";
import styles from "./StepPanel.module.css";
import { askRerun, whyNoRetry } from "./story";

interface StepPanelProps {
  run: Run;
  step: RunStep;
  /** All steps of the run. */
  steps: readonly RunStep[];
  isDecisive: boolean;
  now: number;
  onClose: () => void;
}

/** One step: what can be done, every attempt, what it got, gave back and what went wrong. */
export function StepPanel({ run, step, steps, isDecisive, now, onClose }: StepPanelProps) {
  const took = tookSeconds(step.startedAt, step.finishedAt, now);
  return (
    <SidePanel label="One step" head={<bdi>{step.id}</bdi>} onClose={onClose}>
      <div className={panel.stack}>
        <Acts run={run} step={step} steps={steps} />
        {step.error && <p className={styles.bad}>{step.error}</p>}
        {step.kind === "approval" && step.state === "waiting" && <Answer run={run} step={step} />}
        <Facts
          facts={[
            ["Kind", step.kind],
            ["After", step.dependsOn.join(", ") || "nothing: it begins the run"],
            ["Took", took === undefined ? "not begun" : duration(took)],
            ["Begun anew", step.round === 0 ? "never" : plural(step.round, "time")],
            ["Critical path", isDecisive ? "yes" : "no"],
          ]}
        />
        {step.dueAt && (
          <p className={panel.soft}>
            Waits until <Time at={step.dueAt} />
          </p>
        )}
        <Rounds run={run} step={step} now={now} />
        {step.output !== undefined && step.output !== null && (
          <section aria-label="Output">
            <h3 className={styles.head}>Output</h3>
            <JsonText value={step.output} />
          </section>
        )}
        <Cli command={`godel workflow step ${run.id.slice(-8)} ${shellWord(step.id)}`} />
      </div>
    </SidePanel>
  );
}

function Acts({ run, step, steps }: Pick<StepPanelProps, "run" | "step" | "steps">) {
  const retry = useRetryStep();
  const foreign = useForeignRun()(run);
  const cli = `godel workflow retry ${run.id.slice(-8)} --step ${shellWord(step.id)}`;
  // What failed is worth nothing, so nobody has to be asked; what succeeded is thrown away.
  const isSure = async () =>
    step.state !== "succeeded" || (await confirm({ ...askRerun(step, steps), cli }));
  return (
    <div className={styles.line}>
      <StateBadge state={step.state} />
      <Guarded
        size="small"
        can="workflow:execute:own"
        refused={foreign ?? whyNoRetry(step)}
        cli={cli}
        onClick={async () => (await isSure()) && retry.mutate({ run, step })}
      >
        Rerun from here
      </Guarded>
    </div>
  );
}

/** A step that asks a person is answered where it is looked at. */
function Answer({ run, step }: { run: Run; step: RunStep }) {
  const answer = useAnswerStep();
  const name = `step.${run.id}.${step.id}`;
  const [note, setNote, clear] = useDraft(name);
  const refused = useNotAsked()(step.by);
  const id = run.id.slice(-8);
  const say = (approve: boolean) => {
    clear();
    // Why it was refused is told by the change itself; the note is there for the next try.
    answer
      .mutateAsync({ run, step, approve, note })
      .catch(() => note !== "" && returnDraft({ name, text: note }));
  };
  return (
    <section className={styles.answer} aria-label="Your answer">
      <label>
        Note, if you like
        <input value={note} maxLength={2_000} onChange={(event) => setNote(event.target.value)} />
      </label>
      <div className={styles.line}>
        <Guarded
          look="solid"
          size="small"
          can="workflow:execute:own"
          refused={refused}
          cli={`godel workflow approve ${id} ${shellWord(step.id)}`}
          onClick={() => say(true)}
        >
          Approve
        </Guarded>
        <Guarded
          look="bad"
          size="small"
          can="workflow:execute:own"
          destructive
          refused={refused}
          cli={`godel workflow reject ${id} ${shellWord(step.id)}`}
          onClick={() => say(false)}
        >
          Reject
        </Guarded>
      </div>
    </section>
  );
}

/** Each time that the step was begun, the last first and open. */
function Rounds({ run, step, now }: { run: Run; step: RunStep; now: number }) {
  const query = useQuery(queueQueries.step(run.id, step.id));
  return (
    <Loaded query={query} what="The attempts" skeleton={<SkeletonRows rows={3} />}>
      {({ rounds, cut }) => (
        <>
          {rounds.map((round, index) =>
            index === 0 ? (
              <RoundView key={round.round} round={round} now={now} />
            ) : (
              <Disclosure
                key={round.round}
                label={`Begun before, time ${round.round + 1}: ${endOf(round)}`}
              >
                <RoundView round={round} now={now} />
              </Disclosure>
            ),
          )}
          {cut && <PartialBadge kind="limited" why="It was begun earlier, too" />}
        </>
      )}
    </Loaded>
  );
}

function endOf({ task, run }: RunStepRound): string {
  return task?.state ?? run?.state ?? "not begun";
}

/** What one time of being begun came to: attempts of a task, or a run of its own. */
function RoundView({ round, now }: { round: RunStepRound; now: number }) {
  const { task, run } = round;
  return (
    <div className={styles.round} data-round={round.round}>
      {run && (
        <section aria-label="Run">
          <h3 className={styles.head}>The run that it started</h3>
          <p className={styles.line}>
            <StateBadge state={run.state} />
            <Link to={`/queue/runs/${run.id}`}>{run.name}</Link>
          </p>
        </section>
      )}
      {task && (
        <>
          <section aria-label="Attempts">
            <h3 className={styles.head}>Attempts</h3>
            <AttemptList task={task} now={now} />
          </section>
          <section aria-label="Input">
            <h3 className={styles.head}>Input</h3>
            <JsonText value={task.payload} />
          </section>
          {task.result != null && (
            <section aria-label="Result">
              <h3 className={styles.head}>Result</h3>
              <JsonText value={task.result} />
            </section>
          )}
          {task.error && !task.attempts.some(({ error }) => error === task.error) && (
            <p className={styles.bad}>{task.error}</p>
          )}
          <Link to={`/queue?task=${task.id}`}>Open its task</Link>
        </>
      )}
    </div>
  );
}

function AttemptList({ task, now }: { task: TaskDetail; now: number }) {
  if (task.attempts.length === 0) {
    return <p className={panel.soft}>Nobody has taken it yet: it is {task.state}.</p>;
  }
  return (
    <ol className={styles.attempts}>
      {task.attempts.toReversed().map((attempt) => (
        <li key={attempt.number}>
          <span className={styles.try}>
            <span className="tabular">{`#${attempt.number}`}</span>
            <StateBadge state={attempt.ending ?? "running"} />
            <Time at={attempt.startedAt} />
            <span className="tabular">
              {duration(tookSeconds(attempt.startedAt, attempt.endedAt, now) ?? 0)}
            </span>
          </span>
          {attempt.error && <p className={styles.bad}>{attempt.error}</p>}
        </li>
      ))}
    </ol>
  );
}
