import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { post } from "../../api/client";
import type { Project } from "../../api/types";
import { useRefusal } from "../../roles/session";
import { navigate, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Loaded } from "../../ui/Loaded";
import { PageHead } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { Status } from "../../ui/Status";
import { budgetsQuery } from "../budgets/queries";
import { projectsQuery } from "../projects/queries";
import { reviewQueries } from "../review/queries";
import { BudgetStep } from "./BudgetStep";
import { ChangeStep } from "./ChangeStep";
import { doctorQuery } from "./doctor";
import { KeyStep } from "./KeyStep";
import { RepositoryStep } from "./RepositoryStep";
import { RuntimeStep } from "./RuntimeStep";
import { useSkipped } from "./skipped";
import {
  doneSteps,
  factsOf,
  type Known,
  limitOf,
  projectOf,
  STEPS,
  type StepId,
  stepAfter,
  stepAt,
} from "./steps";
import styles from "./WelcomePage.module.css";

const TITLES: Record<StepId, string> = {
  repository: "Add a repository",
  key: "Give Godel a key",
  runtime: "See where agents work",
  budget: "Say what it may cost",
  change: "Get a first change",
};

/** From nothing to a first change that waits for a review; what is done is known by the server. */
export function Page() {
  const projects = useQuery(projectsQuery);
  const [, setSkipped] = useSkipped();
  const leave = () => {
    setSkipped(true);
    navigate("/");
  };
  return (
    <div className={styles.page}>
      <PageHead
        title="Set up Godel"
        acts={
          <Button look="quiet" onClick={leave}>
            Skip the setup
          </Button>
        }
      />
      <p className={styles.lead}>
        Five steps, about three minutes. Leave and come back whenever you like.
      </p>
      <Loaded query={projects} what="The projects" skeleton={<SkeletonRows />}>
        {({ items }) => <Steps projects={items} />}
      </Loaded>
      <div className={styles.foot}>
        <Cli command="godel onboard" />
      </div>
    </div>
  );
}

function Steps({ projects }: { projects: readonly Project[] }) {
  const project = projectOf(projects);
  const [chosen, choose] = useParam("step");
  const denied = useRefusal("secret:execute:team");
  const tests = useQuery({ ...testQuery, enabled: denied === undefined });
  const blind = useRefusal("config:read:team");
  const doctor = useQuery({ ...doctorQuery, enabled: blind === undefined });
  const budgets = useQuery(budgetsQuery);
  const reviews = useQuery({
    ...reviewQueries.queue(project?.id),
    enabled: project !== undefined,
  });
  const known: Known = {
    projects,
    tests: tests.data?.items,
    diagnosis: doctor.data,
    budgets: budgets.data?.items,
    reviews: reviews.data?.items,
  };
  const done = doneSteps(known);
  const here = stepAt(done, chosen);
  const goOn = () => choose(stepAfter(done, here));
  const views: Record<StepId, ReactNode> = {
    repository: <RepositoryStep project={project} onDone={goOn} />,
    key: (
      <KeyStep
        tests={tests}
        denied={denied}
        doctor={blind === undefined ? doctor : undefined}
        onDone={goOn}
      />
    ),
    runtime: <RuntimeStep doctor={doctor} denied={blind} onDone={goOn} />,
    budget: <BudgetStep limit={limitOf(budgets.data?.items, project)} onDone={goOn} />,
    change: <ChangeStep project={project} reviews={reviews.data?.items ?? []} />,
  };
  return <StepList here={here} known={known} done={done} onChoose={choose} view={views[here]} />;
}

interface StepListProps {
  here: StepId;
  known: Known;
  done: ReadonlySet<StepId>;
  onChoose: (step: StepId) => void;
  /** What is in the step that is open. */
  view: ReactNode;
}

function StepList({ here, known, done, onChoose, view }: StepListProps) {
  const facts = factsOf(known);
  return (
    <ol className={styles.steps} aria-label="Steps of the setup">
      {STEPS.map((step, index) => (
        <li key={step} className={styles.step} aria-current={step === here ? "step" : undefined}>
          <button type="button" className={styles.head} onClick={() => onChoose(step)}>
            <span className={styles.number}>{index + 1}</span>
            <span className={styles.title}>{TITLES[step]}</span>
            {done.has(step) && (
              <>
                <span className={styles.fact}>{facts.get(step)}</span>
                <Status tone="ok" icon="check">
                  Done
                </Status>
              </>
            )}
          </button>
          {step === here && (
            <div className={styles.body}>
              <Boundary what="This step">{view}</Boundary>
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Tries each key at its provider, as `godel provider test` does; once, and again when asked. */
const testQuery = {
  queryKey: ["provider-test"],
  queryFn: () => post("/proxy/v1/providers/test", {}),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
} as const;
