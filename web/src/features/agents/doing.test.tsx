import { QueryClientProvider } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { fakeServer, ok, SESSION } from "../../../tests/fakeServer";
import { makeEvent } from "../../../tests/fakeWire";
import type { Agent } from "../../api/types";
import { newQueryClient } from "../../queryClient";
import { RuleRunner } from "../../realtime/rules";
import { SessionProvider } from "../../roles/session";
import { useLastAction } from "./AgentParts";
import { withDeeds } from "./doing";

const filter = JSON.stringify({ type: ["agent:tool:call", "agent:text", "agent:commit"] });
const EVENTS = `GET /api/v1/events?${new URLSearchParams({ limit: "100", filter })}`;
const LOGS = (id: string) => `GET /api/v1/agents/${id}/logs?before=9007199254740991&limit=60`;

/** An agent says something. */
const says = (sequence: number, agentId: string, text: string) => ({
  ...makeEvent(sequence, "agent:text", { text }),
  metadata: { agentId },
});

function Doing({ agent }: { agent: Agent }) {
  return (
    <p>
      {agent.id}: {useLastAction(agent) ?? "nothing"}
    </p>
  );
}

function show(...agents: Agent[]) {
  const client = newQueryClient();
  render(
    <QueryClientProvider client={client}>
      <SessionProvider value={SESSION}>
        {agents.map((agent) => (
          <Doing key={agent.id} agent={agent} />
        ))}
      </SessionProvider>
    </QueryClientProvider>,
  );
  const runner = new RuleRunner(client);
  return { hear: (...events: ReturnType<typeof says>[]) => act(() => runner.apply(events)) };
}

it("A2 what an agent did last is there after a reload, and goes on with events", async () => {
  const calls = fakeServer({
    [EVENTS]: () =>
      ok({
        items: [says(9, "a1", "the newest"), says(8, "a1", "the one before")],
        pagination: { hasMore: false },
      }),
    [LOGS("a2")]: () =>
      ok({
        items: [
          { seq: 3, at: "", type: "agent:tool:call", payload: { name: "shell", input: "make" } },
          { seq: 4, at: "", type: "agent:usage", payload: {} },
        ],
        next: 5,
      }),
  });
  const { hear } = show(
    fakeAgent(),
    fakeAgent({ id: "a2" }),
    fakeAgent({ id: "a3", view: "waiting", note: "Which colour?" }),
    fakeAgent({ id: "a4", view: "offline", status: "completed" }),
  );
  await screen.findByText("a1: Says: the newest");
  // It was silent while others spoke, so its own log is asked.
  await screen.findByText("a2: shell: make");
  screen.getByText("a3: Which colour?");
  screen.getByText("a4: nothing");
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([EVENTS, LOGS("a2")]);
  hear(says(10, "a2", "done"));
  await screen.findByText("a2: Says: done");
});

it("what comes late does not replace what is newer", () => {
  const known = withDeeds({}, [says(5, "a1", "newer"), says(3, "a1", "older")]);
  expect(known.a1?.text).toBe("Says: newer");
  expect(withDeeds(known, [says(4, "a1", "late"), says(6, "a2", "else")])).toMatchObject({
    a1: { seq: 5 },
    a2: { seq: 6 },
  });
});
