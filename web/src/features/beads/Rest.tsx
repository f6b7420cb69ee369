import { type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Listing, MOST } from "../../api/list";
import type { Bead } from "../../api/types";
import { Button } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { readMore } from "./queries";
import styles from "./Rest.module.css";

interface RestProps {
  query: Pick<UseQueryResult<Listing<Bead>>, "data" | "isFetching">;
  /** What the server found for a query, if it was asked. */
  found?: Listing<Bead> | undefined;
  projectId: string | undefined;
  /** What to do about it besides reading more, or what it means here. */
  children: ReactNode;
}

/** Says that there are more beads than the page has, how to find one of them, and reads more. */
export function Rest({ query, found, projectId, children }: RestProps) {
  const { data, isFetching } = query;
  const client = useQueryClient();
  if (!data?.isCut) return null;
  const here = plural(data.items.length, "bead");
  return (
    <div className={styles.rest} role="status">
      <Icon name="alert" size={14} />
      {found === undefined ? (
        <p>
          The first {here} are here, the urgent and old ones; there are more. {children}
        </p>
      ) : found.isCut ? (
        <p>
          All beads were looked through, and more than {count(found.items.length)} fit. Another word
          in the query leaves fewer.
        </p>
      ) : (
        <p>All beads were looked through, not only the first {count(data.items.length)}.</p>
      )}
      <Button size="small" disabled={isFetching} onClick={() => readMore(client, projectId)}>
        {isFetching ? "Reading…" : `Read ${count(MOST)} more`}
      </Button>
    </div>
  );
}
