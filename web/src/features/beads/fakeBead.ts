import type { Bead } from "../../api/types";

/** A bead for tests. */
export function bead(id: string, fields: Partial<Bead> = {}): Bead {
  return {
    id,
    projectId: "p",
    type: "task",
    title: id,
    status: "open",
    priority: "medium",
    commits: [],
    labels: [],
    links: [],
    comments: [],
    metadata: {},
    createdAt: "2026-11-16T10:00:00Z",
    updatedAt: "2026-11-16T10:00:00Z",
    ...fields,
  };
}
