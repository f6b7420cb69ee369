import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorPanel } from "./ErrorPanel";
import { PartialBadge } from "./Status";

interface LoadedProps<T> {
  query: Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isFetching">;
  /** What it is: "The agents". */
  what: string;
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
}

/** The answer of a query: its skeleton, then its data, or why there is none. Old data stay, marked. */
export function Loaded<T>({ query, what, skeleton, children }: LoadedProps<T>) {
  const { data, error, refetch, isFetching } = query;
  if (data !== undefined) {
    return (
      <>
        {error && !isFetching && (
          <PartialBadge kind="stale" why={`${what} could not be loaded again: ${error.message}`} />
        )}
        {children(data)}
      </>
    );
  }
  if (error)
    return <ErrorPanel what={`${what} could not be loaded`} error={error} onRetry={refetch} />;
  return skeleton;
}
