import { useQuery } from "@tanstack/react-query";
import { serverNow } from "../../api/clock";
import type { Budget } from "../../api/types";
import { useCan, useSession } from "../../roles/session";
import { budgetsQuery } from "./queries";
import { type NewWork, usedUpFor } from "./usedUp";

/** Budgets that would refuse the requests of what is about to begin, as far as who asks may know of budgets. */
export function useUsedUpFor(work: Omit<NewWork, "userId">): readonly Budget[] {
  const { userId } = useSession();
  const isAllowed = useCan("cost:read:team");
  const budgets = useQuery({ ...budgetsQuery, enabled: isAllowed }).data?.items ?? [];
  return usedUpFor({ userId, ...work }, budgets, serverNow());
}
