import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { fakeServer, ok, refuse } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { Menu } from "../../ui/Menu";
import { bead } from "./fakeBead";
import { useBeadActs } from "./useBeadActs";

function More({ agent }: { agent: string | null }) {
  const { agentItems } = useBeadActs();
  return <Menu label="Assign" items={() => agentItems([bead("b-1", { agent })])} />;
}

/** A server that gives a bead to whom it is told, and takes it back. */
function world({ refuses = false } = {}) {
  const calls = fakeServer({
    "GET /api/v1/agents?limit=1000": () =>
      ok({ items: [fakeAgent()], pagination: { hasMore: false } }),
    "POST /api/v1/beads/b-1/assign?projectId=p": () =>
      refuses ? refuse(409, "bead_state", "the bead is done") : ok(bead("b-1")),
    "POST /api/v1/beads/b-1/release?projectId=p": () => ok(bead("b-1")),
  });
  return () =>
    calls
      .filter(({ method }) => method === "POST")
      .map(({ path, body }) => [path.split(/[/?]/)[5], body]);
}

async function assign(from: string | null) {
  renderPart(
    <>
      <More agent={from} />
      <Toaster />
    </>,
  );
  // The agents that it can be given to come from the server.
  fireEvent.click(screen.getByRole("button", { name: "Assign" }));
  await expect
    .poll(() => screen.queryAllByRole("menuitemradio", { name: /^worker-1/ }))
    .toHaveLength(1);
  fireEvent.click(screen.getByRole("menuitemradio", { name: /^worker-1/ }));
}

it("G6 a bead that was given to an agent is nobody's again by Undo", async () => {
  const sent = world();
  await assign(null);
  fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
  await expect.poll(sent).toEqual([
    ["assign", { agentId: "worker-1" }],
    ["release", {}],
  ]);
});

it("G6 a bead that was somebody's goes back to them", async () => {
  const sent = world();
  await assign("ann");
  fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
  await expect.poll(sent).toEqual([
    ["assign", { agentId: "worker-1" }],
    ["assign", { agentId: "ann" }],
  ]);
});

it("G5 what the server refuses is told with its reason, and there is nothing to undo", async () => {
  world({ refuses: true });
  await assign(null);
  await screen.findByText("The bead is done.");
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});
