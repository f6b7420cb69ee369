import type { Preview } from "../../api/types";

/** A preview that is there; a test says what is special about it. */
export function fakePreview(special: Partial<Preview> = {}): Preview {
  return {
    id: "v1",
    project: "p1",
    bead: "app-4k2hm",
    agent: "worker-1",
    agentId: "a1",
    command: "npm run dev -- --port $PORT",
    state: "ready",
    url: "http://127.0.0.1:43127/",
    port: 43_127,
    isLive: true,
    startedAt: "2026-11-15T10:00:00Z",
    startedBy: "ann",
    endsAt: "2026-11-15T14:00:00Z",
    output: "",
    ...special,
  };
}
