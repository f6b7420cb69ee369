import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { ErrorPanel } from "./ErrorPanel";
import { PartialBadge } from "./Status";

interface LoadedProps<T> {
  query: Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isFetching">;
  /** What it is: "The agents". */
  what: string;
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
}

/**
 * The answer of a query: its skeleton, then its data, or why there is none. Old data stay, marked;
 * what the reader may not see is marked as well, and not offered for another try.
 */
export function Loaded<T>({ query, what, skeleton, children }: LoadedProps<T>) {
  const { data, error, refetch, isFetching } = query;
  const isDenied = error instanceof ApiError && error.status === 403;
  if (data !== undefined) {
    return (
      <>
        {error && !isFetching && (
          <PartialBadge
            kind={isDenied ? "permission" : "stale"}
            why={`${what} could not be loaded again: ${error.message}`}
          />
        )}
        {children(data)}
      </>
    );
  }
  if (isDenied) {
    return (
      <p data-shows="denied">
        <PartialBadge kind="permission" why={`${what}: ${error.message}`} />
      </p>
    );
  }
  if (error)
    return <ErrorPanel what={`${what} could not be loaded`} error={error} onRetry={refetch} />;
  return skeleton;
}
