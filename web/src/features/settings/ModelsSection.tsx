import { useQuery } from "@tanstack/react-query";
import { Link } from "../../router/Link";
import { Empty } from "../../ui/Empty";
import { count, plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Money } from "../../ui/Money";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { useNow } from "../../ui/useNow";
import { SpawnFirst } from "../agents/SpawnFirst";
import { costQueries } from "../costs/queries";
import { bucketOf } from "../costs/range";
import { isNoModel } from "../costs/spend";
import { Line, Lines, Section } from "./Section";

const DAY_MS = 86_400_000;
const DAYS = 90;

/** Which models were asked, by which provider they were answered, and what that cost. */
export function ModelsSection() {
  const now = useNow(DAY_MS);
  const query = useQuery({
    ...costQueries.usage({
      from: bucketOf(now - (DAYS - 1) * DAY_MS, "day", "utc"),
      to: bucketOf(now, "day", "utc"),
      by: ["provider", "model"],
      filter: {},
    }),
    // Machines and storage are in the same sums.
    select: ({ rows }) => rows.filter(({ group }) => !isNoModel(group.provider)),
  });
  return (
    <Section
      title="Models"
      lead={`Models that were asked in the last ${DAYS} days. Which may be asked is said by the project, the token and proxy.toml.`}
    >
      <Loaded query={query} what="The models" skeleton={<SkeletonRows rows={3} height={54} />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              icon="agents"
              why="No model was asked yet."
              action={<SpawnFirst />}
              cli="godel agent spawn 'Say hello'"
            />
          ) : (
            <Lines label="Models">
              {rows
                .toSorted((one, other) => other.costMicros - one.costMicros)
                .map(({ group, requests, costMicros, unpriced, outputTokens }) => (
                  <Line
                    key={`${group.provider} ${group.model}`}
                    id={group.model ?? ""}
                    title={
                      <Link to={`/costs?range=90d&model=${encodeURIComponent(group.model ?? "")}`}>
                        {group.model}
                      </Link>
                    }
                    note={`${group.provider}, ${plural(requests, "request")}, ${count(outputTokens)} tokens of output`}
                    state={
                      unpriced > 0 ? (
                        <Badge tone="warn" icon="alert">
                          no price
                        </Badge>
                      ) : (
                        <Money micros={costMicros} />
                      )
                    }
                  />
                ))}
            </Lines>
          )
        }
      </Loaded>
    </Section>
  );
}
