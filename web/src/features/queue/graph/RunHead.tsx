import type { Run } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Link } from "../../../router/Link";
import { duration, plural, shellWord } from "../../../ui/format";
import { ProgressRing } from "../../../ui/Meter";
import { PageHead } from "../../../ui/PageHead";
import { ShortId } from "../../../ui/ShortId";
import { Time } from "../../../ui/Time";
import { type RunVerb, useRunVerb } from "../queries";
import { verbsOf } from "../RunPeek";
import { StateBadge } from "../StateBadge";
import { useForeignRun } from "../useForeignRun";
import { useRerun } from "./changes";
import styles from "./RunPage.module.css";
import { whyNoRerun } from "./story";

/** How a run stands, and what can be done with it. */
export function RunHead({ run }: { run: Run }) {
  return (
    <>
      <PageHead
        title={run.name}
        note={
          <span className={styles.line}>
            <StateBadge state={run.state} />
            <ProgressRing percent={run.progress * 100} />
            <span role="status">{countsOf(run)}</span>
            <ShortId id={run.id} />
          </span>
        }
        acts={<Acts run={run} />}
      />
      <p className={styles.facts}>
        <span>
          begun <Time at={run.startedAt ?? run.createdAt} />
        </span>
        {run.finishedAt ? (
          <span>
            ended <Time at={run.finishedAt} />
          </span>
        ) : (
          run.remainingSeconds > 0 && <span>about {duration(run.remainingSeconds)} ahead</span>
        )}
        <span>{plural(run.maxConcurrency, "step")} at once</span>
        {run.parentId && <Link to={`/queue/runs/${run.parentId}`}>Open the run it is part of</Link>}
      </p>
      {run.error && <p className={styles.bad}>{run.error}</p>}
    </>
  );
}

/** `3 of 5 steps done, 1 failed`: what a screen reader hears when it changes. */
export function countsOf({ counts }: Pick<Run, "counts">): string {
  const all = Object.values(counts).reduce((sum, many) => sum + many, 0);
  const rest = (["failed", "running", "waiting"] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `, ${counts[state]} ${state}`);
  return `${counts.succeeded + counts.skipped} of ${plural(all, "step")} done${rest.join("")}`;
}

function Acts({ run }: { run: Run }) {
  const verbs: Record<RunVerb, ReturnType<typeof useRunVerb>> = {
    pause: useRunVerb("pause"),
    resume: useRunVerb("resume"),
    cancel: useRunVerb("cancel"),
    retry: useRunVerb("retry"),
  };
  const rerun = useRerun();
  const foreign = useForeignRun()(run);
  return (
    <>
      {verbsOf(run.state).map((verb) => (
        <Guarded
          key={verb}
          size="small"
          align="end"
          look={verb === "cancel" ? "bad" : "line"}
          can="workflow:execute:own"
          destructive={verb === "cancel"}
          refused={foreign}
          cli={`godel workflow ${verb} ${run.id.slice(-8)}`}
          onClick={() => verbs[verb].mutate(run)}
        >
          {verb === "retry" ? "Retry what failed" : `${verb[0]?.toUpperCase()}${verb.slice(1)}`}
        </Guarded>
      ))}
      <Guarded
        size="small"
        align="end"
        can="workflow:execute:own"
        refused={whyNoRerun(run)}
        cli={rerunCli(run)}
        onClick={() => rerun.mutate({ run })}
      >
        Run again
      </Guarded>
    </>
  );
}

/** The same run on the command line; values of the reader's data are quoted for a shell. */
export function rerunCli({ name, inputs }: Pick<Run, "name" | "inputs">): string {
  const given = Object.entries(inputs ?? {}).map(([field, value]) => {
    // What is no text is JSON, and the command line is told so.
    const word =
      typeof value === "string" ? `${field}=${value}` : `${field}:=${JSON.stringify(value)}`;
    return ` --input ${shellWord(word)}`;
  });
  return `godel workflow run ${shellWord(name)}${given.join("")}`;
}
