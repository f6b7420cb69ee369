import { useQuery } from "@tanstack/react-query";
import { ErrorPanel } from "../../ui/ErrorPanel";
import { Bone, Late } from "../../ui/Skeleton";
import { budgetsQuery } from "../budgets/queries";
import { useProject } from "../projects/queries";
import styles from "./Headline.module.css";
import { costQueries } from "./queries";
import { bucketOf, type Zone } from "./range";
import { HOUR_MS, RATE_DAYS, Tiles } from "./Tiles";

/** Now, today and this month, how fast it goes, and when the budget ends. */
export function Headline({ zone, now }: { zone: Zone; now: number }) {
  const { projectId } = useProject();
  const filter = { project: projectId };
  const today = bucketOf(now, "day", "utc");
  const month = `${today.slice(0, 8)}01`;
  const rateFrom = bucketOf(now - (RATE_DAYS - 1) * 24 * HOUR_MS, "day", "utc");
  const from = rateFrom < month ? rateFrom : month;
  const usage = useQuery(costQueries.usage({ from, to: today, by: ["day", "kind"], filter }));
  const here = bucketOf(now, "day", zone);
  const day = useQuery(costQueries.usage({ from: here, to: here, by: ["day"], filter, zone }));
  // The start of an hour is the same for an hour, and so is the query.
  const hourAgo = Math.floor(now / HOUR_MS) * HOUR_MS - HOUR_MS;
  const calls = useQuery(costQueries.calls({ since: hourAgo, filter }));
  const budgets = useQuery(budgetsQuery);
  const error = usage.error ?? calls.error ?? day.error;
  if (error && (!usage.data || !calls.data || !day.data)) {
    const retry = () => [usage, calls, day].map((query) => query.refetch());
    return <ErrorPanel what="The sums could not be loaded" error={error} onRetry={retry} />;
  }
  if (!usage.data || !calls.data || !day.data) return <Bones />;
  const data = { usage: usage.data, ...calls.data, budgets: budgets.data?.items ?? [] };
  const times = { zone, now, today, month, rateFrom, spentToday: day.data.total.costMicros };
  return <Tiles {...data} {...times} projectId={projectId} />;
}

function Bones() {
  return (
    <Late>
      <div className={styles.tiles}>
        {["a", "b", "c", "d", "e"].map((name) => (
          <div key={name} className={styles.tile}>
            <Bone width="40%" height={12} />
            <Bone width="60%" height={22} />
          </div>
        ))}
      </div>
    </Late>
  );
}
