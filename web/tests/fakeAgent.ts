import type { Agent } from "../src/api/types";

/** An agent that works; a test says what is special about it. */
export function fakeAgent(special: Partial<Agent> = {}): Agent {
  return {
    id: "a1",
    label: "worker-1",
    status: "running",
    lifecycleState: "executing",
    view: "busy",
    projectId: "p1",
    userId: "u1",
    bead: "app-4k2hm",
    task: "Say hello",
    harness: "native",
    model: "claude-opus-4-8",
    role: "worker",
    runtime: "worktree",
    sandbox: "workspace",
    sessionId: "s1",
    runs: 1,
    retryCount: 0,
    spentMicros: 4_200,
    budgetMicros: 5_000_000,
    todos: [],
    spawnedAt: "2026-11-15T10:00:00Z",
    updatedAt: "2026-11-15T10:01:00Z",
    history: [],
    ...special,
  };
}
