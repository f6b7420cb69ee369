import { get } from "../../api/client";
import type { ReviewRow } from "../../api/types";

/** The most that the server puts on one page. */
export const REVIEW_PAGE = 100;

/** How far work has come that is looked at. */
export type Coming = "review" | "in-progress";

/** As much as is wanted of what waits to be reviewed, or is still worked on, the oldest first. */
export async function readWork(
  most: number,
  { projectId, status = "review" }: { projectId?: string | undefined; status?: Coming },
): Promise<{ items: ReviewRow[]; isCut: boolean }> {
  const fields = new URLSearchParams({ limit: String(REVIEW_PAGE) });
  if (projectId) fields.set("projectId", projectId);
  if (status !== "review") fields.set("status", status);
  // What leaves and comes back meanwhile is on two pages; the later one tells how it is now.
  const items = new Map<string, ReviewRow>();
  for (;;) {
    const page = await get(`/api/v1/reviews?${fields}`);
    for (const row of page.items) items.set(`${row.projectId}/${row.bead}`, row);
    const { cursor, hasMore } = page.pagination;
    if (!hasMore || !cursor || items.size >= most) {
      return { items: [...items.values()].toSorted(byApproval), isCut: hasMore };
    }
    fields.set("cursor", cursor);
  }
}

/** What nobody approved comes first, as on each page. */
function byApproval(a: ReviewRow, b: ReviewRow): number {
  return Number(a.approval != null) - Number(b.approval != null);
}
