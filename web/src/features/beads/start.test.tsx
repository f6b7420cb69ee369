import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { Board } from "../convoys/Board";
import { BeadTable } from "./BeadTable";
import { bead } from "./fakeBead";
import { BeadGraph } from "./graph";

const FREE = bead("b-1");
const BLOCKED = bead("b-2", { links: [{ type: "blocks", target: "b-1" }] });
const graph = new BeadGraph([FREE, BLOCKED]);
const nothing = () => undefined;
const shared = { beads: [FREE, BLOCKED], graph, peeked: undefined, onPeek: nothing };
const cells = { open: [FREE, BLOCKED], "in-progress": [], review: [], done: [] };

/** Where a person looks at beads, and what the menu of one is called there. */
const PLACES = {
  "its card": {
    part: (
      <Board {...shared} lanes={[{ id: "all", title: "All beads", cells }]} project={undefined} />
    ),
    menuOf: (id: string) => `Move ${id}`,
  },
  "its row": {
    part: (
      <BeadTable {...shared} convoys={[]} group="none" shown={new Set(["id", "title", "agent"])} />
    ),
    menuOf: (id: string) => `Agent of ${id}: nobody`,
  },
};

it.each(Object.entries(PLACES))(
  "D4 %s has a line that starts an agent on a bead",
  async (_, { part, menuOf }) => {
    const calls = fakeServer({
      "POST /api/v1/agents": () => ok(fakeAgent({ label: "worker-7" })),
    });
    renderPart(
      <>
        {part}
        <Toaster />
      </>,
    );
    const line = (id: string) => {
      fireEvent.click(screen.getByRole("button", { name: menuOf(id) }));
      return screen.getByRole("menuitem", { name: /^Start an agent on it/ });
    };
    const refused = line("b-2");
    expect(refused.getAttribute("aria-disabled")).toBe("true");
    expect(refused.textContent).toContain("It waits on b-1.");
    fireEvent.keyDown(refused, { key: "Escape" });
    fireEvent.click(line("b-1"));
    await screen.findByText("worker-7 is on its way");
    const sent = calls.filter(({ method }) => method === "POST").map(({ body }) => body);
    expect(sent).toEqual([{ bead: "b-1", projectId: "p" }]);
  },
);
