import type { UseQueryResult } from "@tanstack/react-query";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Loaded } from "../../ui/Loaded";
import { Notice } from "../../ui/Notice";
import { asSentences } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { USUAL_RUNTIME } from "../agents/spawn/form";
import { useKept } from "../agents/spawn/kept";
import { CheckStatus, runtimeNote } from "../settings/RuntimesSection";
import { Line, Lines } from "../settings/Section";
import { type Diagnosis, faultsIn, recommended } from "./doctor";
import styles from "./WelcomePage.module.css";

interface RuntimeStepProps {
  doctor: UseQueryResult<Diagnosis>;
  /** Why this person may not try runtimes. */
  denied: string | undefined;
  onDone: () => void;
}

/** Where agents can work on this machine, what is missing, and which place to take. */
export function RuntimeStep({ doctor, denied, onDone }: RuntimeStepProps) {
  const works = doctor.data !== undefined && recommended(doctor.data) !== undefined;
  return (
    <>
      <p className={styles.soft}>
        An agent works behind walls: it changes its own worktree only and reaches nothing but Godel,
        unless somebody allows more.
      </p>
      {denied !== undefined ? (
        <Notice tone="plain">{denied}</Notice>
      ) : (
        <Loaded query={doctor} what="The runtimes" skeleton={<SkeletonRows rows={2} height={54} />}>
          {(found) => <Found found={found} />}
        </Loaded>
      )}
      <div className={styles.acts}>
        <Guarded
          can="config:read:team"
          cli="godel doctor"
          refused={doctor.isFetching ? "It is being tried." : undefined}
          onClick={() => doctor.refetch()}
        >
          {doctor.isFetching ? "Checking" : "Check again"}
        </Guarded>
        <Button look={works ? "solid" : "quiet"} onClick={onDone}>
          {works ? "Go on" : "Skip this step"}
        </Button>
      </div>
    </>
  );
}

function Found({ found }: { found: Diagnosis }) {
  const best = recommended(found);
  return (
    <>
      <Lines label="Where agents can work">
        {found.runtimes.map((runtime) => {
          const test = found.tests.find(({ name }) => name === runtime.name);
          const faults = faultsIn(test).flatMap(({ message, hint }) => [message, hint]);
          return (
            <Line
              key={runtime.name}
              id={`runtime ${runtime.name}`}
              title={runtime.name}
              note={asSentences(
                runtime.about,
                runtime.offered ? runtimeNote(runtime) : undefined,
                ...faults,
              )}
              state={
                <>
                  {runtime === best && <Badge tone="info">Recommended</Badge>}
                  <CheckStatus status={test?.ok ? "ok" : "fail"} />
                </>
              }
            />
          );
        })}
      </Lines>
      {best ? (
        <Advice best={best.name} />
      ) : (
        <Notice tone="bad">
          No agent can begin here yet. Do what is said above, then check again.
        </Notice>
      )}
    </>
  );
}

/** Which runtime to take; the server keeps no choice, so this browser does, for agents that are spawned. */
function Advice({ best }: { best: string }) {
  const [kept, keep] = useKept();
  const why = "the strongest walls that work on this machine";
  if (best === USUAL_RUNTIME) {
    return (
      <p>
        <strong>{best}</strong> has {why}, and agents use it unless you say otherwise.
      </p>
    );
  }
  if (kept.runtime === best) {
    return (
      <p role="status">
        <strong>{best}</strong> is filled in when you spawn an agent. A wish and a convoy use{" "}
        {USUAL_RUNTIME} unless you choose another at the start of the convoy.
      </p>
    );
  }
  return (
    <div className={styles.offer}>
      <p>
        <strong>{best}</strong> has {why}. Agents use {USUAL_RUNTIME} unless you say otherwise.
      </p>
      <Button onClick={() => keep({ ...kept, runtime: best })}>Choose {best} when I spawn</Button>
    </div>
  );
}
