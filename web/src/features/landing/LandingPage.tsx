import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { useAction } from "../../actions/actions";
import type { Landing } from "../../api/types";
import { useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { LinkButton } from "../../ui/LinkButton";
import { Loaded } from "../../ui/Loaded";
import { PageHead } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { useRows } from "../../ui/table/useRows";
import { useProject } from "../projects/queries";
import { LANDING } from "./actions";
import styles from "./LandingPage.module.css";
import { LineView } from "./LineView";
import { type Step, whyNoStep } from "./order";
import { landingQueries } from "./queries";
import { isOpen } from "./stages";
import { cliOf, cliOfStep, useLandingActs, useWhyNot } from "./useLandingActs";

const FEW = 20;
const MANY = 200;
const keyOf = ({ projectId, bead }: Landing) => `${projectId} ${bead}`;

/** What is to land, in order, and what became of the last ones. */
export function Page() {
  const { projectId, projects } = useProject();
  const [past, setPast] = useParam("past");
  const isLong = past === "more";
  const query = useQuery(landingQueries.lines(projectId, isLong ? MANY : FEW));
  const lines = useMemo(() => query.data?.items ?? [], [query.data]);
  const landings = useMemo(() => lines.flatMap((line) => line.landings), [lines]);
  const waiting = landings.filter(isOpen).length;
  const cursor = useCursor(landings);
  const nameOf = (id: string) => projects.find((one) => one.id === id)?.name ?? "Project";
  return (
    <>
      <PageHead
        title="Merge queue"
        note={query.data && `${plural(waiting, "bead")} to land`}
        acts={
          lines.length > 0 && (
            <Button
              size="small"
              aria-pressed={isLong}
              onClick={() => setPast(isLong ? undefined : "more")}
            >
              Show the last {MANY}
            </Button>
          )
        }
      />
      <div className={styles.page}>
        <Boundary what="The merge queue">
          <Loaded query={query} what="The merge queue" skeleton={<SkeletonRows height={64} />}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty
                  icon="merge"
                  why="Nothing is to land, and nothing has landed yet. What a review approves comes here."
                  action={<LinkButton to="/review">Go to the reviews</LinkButton>}
                  cli="godel land BEAD"
                />
              ) : (
                items.map((line, at) => (
                  <LineView
                    key={line.projectId}
                    line={line}
                    name={nameOf(line.projectId)}
                    cursor={cursor}
                    isFirst={at === 0}
                  />
                ))
              )
            }
          </Loaded>
        </Boundary>
      </div>
    </>
  );
}

/** The entry under the cursor, with the keys of the page. */
function useCursor(landings: readonly Landing[]): string | undefined {
  const { act, step } = useLandingActs();
  const refusedOf = useWhyNot();
  const { cursor } = useRows({
    rows: landings,
    keyOf,
    onOpen: ({ bead }) => document.getElementById(`landing-${bead}`)?.querySelector("a")?.click(),
  });
  const here = landings.find((landing) => keyOf(landing) === cursor);
  const bead = here?.bead;
  // What keys are about must be seen.
  useEffect(() => {
    if (bead === undefined) return;
    document.getElementById(`landing-${bead}`)?.scrollIntoView({ block: "nearest" });
  }, [bead]);
  const bind = (verb: "retry" | "remove" | "revert") => ({
    when: here !== undefined,
    title: here && `${LANDING[verb].title}: ${here.bead}`,
    cli: here && cliOf(verb, here),
    disabled: here && refusedOf(verb, here),
  });
  useAction(LANDING.retry, () => here && act("retry", here), bind("retry"));
  useAction(LANDING.remove, () => here && act("remove", here), bind("remove"));
  useAction(LANDING.revert, () => here && act("revert", here), bind("revert"));
  const bindStep = (which: Step) => ({
    when: here !== undefined,
    title: here && `${LANDING[which].title}: ${here.bead}`,
    cli: here && cliOfStep(which, here, landings),
    disabled: here && whyNoStep(which, here, landings),
  });
  useAction(LANDING.first, () => here && step("first", here, landings), bindStep("first"));
  useAction(LANDING.up, () => here && step("up", here, landings), bindStep("up"));
  useAction(LANDING.down, () => here && step("down", here, landings), bindStep("down"));
  useAction(LANDING.last, () => here && step("last", here, landings), bindStep("last"));
  return cursor;
}
