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
  const items: ReviewRow[] = [];
  for (;;) {
    const page = await get(`/api/v1/reviews?${fields}`);
    items.push(...page.items);
    const { cursor, hasMore } = page.pagination;
    if (!hasMore || !cursor || items.length >= most) return { items, isCut: hasMore };
    fields.set("cursor", cursor);
  }
}
