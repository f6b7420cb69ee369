import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { list } from "../../api/list";
import type { Project, ReviewRow } from "../../api/types";
import { Link } from "../../router/Link";
import { setParams, useParam } from "../../router/router";
import { Icon } from "../../ui/Icon";
import { Notice } from "../../ui/Notice";
import { IntentBox } from "../intents/IntentBox";
import { intentQueries } from "../intents/queries";
import { Sample } from "./Sample";
import styles from "./WelcomePage.module.css";

const GOES_ON = ["asking", "planned", "starting", "started"];

const latestQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["intents", "latest", projectId],
    queryFn: () => list("/api/v1/intents", { most: 20 }),
  });

interface ChangeStepProps {
  project: Project | undefined;
  /** What waits for a person already. */
  reviews: readonly ReviewRow[];
}

/** A first wish, by the same box as everywhere, or a sample; both end at their review. */
export function ChangeStep({ project, reviews }: ChangeStepProps) {
  const own = useOwnBeads();
  const review = reviews.find(({ bead }) => own.has(bead)) ?? reviews[0];
  if (!project)
    return <Notice tone="plain">Add a repository first; a change needs a place.</Notice>;
  return (
    <>
      {review && (
        <div className={styles.ready} role="status">
          <p>
            <strong>{review.title}</strong> waits for your review. Nothing is in your branch before
            you say so.
          </p>
          <Link
            to={`/review/${encodeURIComponent(review.bead)}`}
            className={styles.go}
            data-go-review=""
          >
            <Icon name="review" size={15} />
            Review the change
          </Link>
        </div>
      )}
      {!review && (
        <p className={styles.soft}>
          Ask for something small. An agent does it in a worktree of its own, and the change comes
          here for your review.
        </p>
      )}
      <Resumed project={project} isFirst={!review} />
    </>
  );
}

/** The beads of the wish on this page, so that its review is the one that is offered. */
function useOwnBeads(): ReadonlySet<string> {
  const [intentId] = useParam("intent");
  const intent = useQuery({ ...intentQueries.one(intentId ?? ""), enabled: !!intentId }).data;
  const { convoy, projectId } = intent ?? {};
  const followed = useQuery({
    ...intentQueries.followed(convoy ?? "", projectId ?? ""),
    enabled: !!convoy,
  }).data;
  return new Set(followed?.waves.waves.flat().map(({ id }) => id));
}

interface ResumedProps {
  project: Project;
  /** Nothing is there to look at yet, so a sample helps. */
  isFirst: boolean;
}

/** Goes on with the wish that is under way, if the address names none. */
function Resumed({ project, isFirst }: ResumedProps) {
  const { data, isPending } = useQuery(latestQuery(project.id));
  const [intent] = useParam("intent");
  const isAsked = useRef(intent !== undefined);
  useEffect(() => {
    if (!data || isAsked.current) return;
    isAsked.current = true;
    const latest = data.items.find(
      ({ state, projectId }) => GOES_ON.includes(state) && projectId === project.id,
    );
    setParams({ project: project.id, ...(latest && { intent: latest.id }) });
  }, [data, project.id]);
  return (
    <>
      <IntentBox />
      {isFirst && !isPending && intent === undefined && <Sample project={project} />}
    </>
  );
}
