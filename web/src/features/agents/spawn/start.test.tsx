import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Agent, Bead } from "../../../api/types";
import { Toaster } from "../../../change/Toaster";
import { currentPlace, navigate } from "../../../router/router";
import { Menu } from "../../../ui/Menu";
import { bead } from "../../beads/fakeBead";
import { BeadGraph } from "../../beads/graph";
import { useKnownModels } from "../queries";
import { useStartItem } from "./useStartItem";

const LATER = "2099-01-01T00:00:00Z";
const OTHER = bead("b-0", { title: "The ground" });

function More({ of }: { of: Bead }) {
  const item = useStartItem(new BeadGraph([OTHER, of]));
  return <Menu label="More" items={() => [item(of)]} />;
}

/** Something on the page that has read the agents, as a table of beads has. */
function Models() {
  return <p>{useKnownModels().join()}</p>;
}

type Answer = ReturnType<typeof ok>;

function world(answer: () => Answer, agents: readonly Agent[] = []) {
  const calls = fakeServer({
    "GET /api/v1/agents?limit=1000": () =>
      ok({ items: agents, pagination: { hasMore: false, cursor: null } }),
    "POST /api/v1/agents": answer,
  });
  return () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
}

const show = (of: Bead, session = SESSION) =>
  renderPart(
    <>
      <More of={of} />
      <Models />
      <Toaster />
    </>,
    session,
  );
const open = () => fireEvent.click(screen.getByRole("button", { name: "More" }));
const line = () => screen.getByRole("menuitem", { name: /^Start an agent on it/ });
const started = () => ok(fakeAgent({ id: "a7", label: "worker-7", bead: "b-1", projectId: "p" }));

describe("an agent for a bead by one click", () => {
  beforeEach(() => navigate("/convoys"));

  it("is started by keys as its project says, and the message leads to it", async () => {
    const sent = world(started);
    show(bead("b-1"));
    const user = userEvent.setup();
    await user.tab();
    await user.keyboard("{Enter}");
    expect(document.activeElement).toBe(line());
    await user.keyboard("{Enter}");
    await screen.findByText("worker-7 is on its way");
    expect(sent()).toEqual([{ bead: "b-1", projectId: "p" }]);
    fireEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(currentPlace().path).toBe("/agents/a7");
  });

  it("is not asked for twice while the server has not answered", async () => {
    const sent = world(started);
    show(bead("b-1"));
    open();
    fireEvent.click(line());
    open();
    expect(line().textContent).toContain("An agent is being started on it.");
    fireEvent.click(line());
    await screen.findByText("worker-7 is on its way");
    expect(sent()).toHaveLength(1);
  });

  it.each([
    ["done", bead("b-1", { status: "done" }), "It is done."],
    [
      "blocked",
      bead("b-1", { links: [{ type: "blocks", target: "b-0" }] }),
      "It waits on The ground.",
    ],
    ["put off", bead("b-1", { defer: LATER }), "It is put off until "],
    ["held", bead("b-1", { agent: "ann", lease: { until: LATER } }), "ann holds"],
    ["promised", bead("b-1", { agent: "ann" }), "It is assigned to ann."],
  ])("G14 a bead that is %s gets none, and the line says why", async (_, of, why) => {
    const sent = world(started);
    show(of);
    open();
    expect(line().getAttribute("aria-disabled")).toBe("true");
    expect(line().textContent).toContain(why);
    fireEvent.click(line());
    expect(sent()).toEqual([]);
  });

  it("a claim that is over keeps nobody away", () => {
    world(started);
    const lease = { until: "2020-01-01T00:00:00Z" };
    show(bead("b-1", { agent: "ann", lease }));
    open();
    expect(line().getAttribute("aria-disabled")).toBeNull();
  });

  it("G14 one at work keeps a second away as soon as the page knows of it", async () => {
    world(started, [fakeAgent({ bead: "b-1", projectId: "p" })]);
    show(bead("b-1"));
    await screen.findByText("claude-opus-4-8");
    open();
    expect(line().textContent).toContain("worker-1 works on it.");
  });

  it("G14 a role that may not spawn reads so", () => {
    world(started);
    show(bead("b-1"), { ...SESSION, role: "viewer", permissions: ["bead:read:team"] });
    open();
    expect(line().textContent).toContain("it needs agent:create:own");
    expect(line().getAttribute("aria-disabled")).toBe("true");
  });

  it("G5 a refusal is told with its reason and can be tried again", async () => {
    let tries = 0;
    world(() => {
      tries += 1;
      return tries === 1 ? refuse(409, "stopped", "everything stands still") : started();
    });
    show(bead("b-1"));
    open();
    fireEvent.click(line());
    await screen.findByText("Not done: Start an agent on b-1");
    screen.getByText("Everything stands still.");
    fireEvent.click(screen.getByRole("button", { name: "Retry" }));
    await screen.findByText("worker-7 is on its way");
  });

  it("what the project does not say is chosen in the form", async () => {
    world(() => refuse(400, "model_needed", "no model is named for the agent"));
    show(bead("b-1"));
    open();
    fireEvent.click(line());
    await screen.findByText("No model is named for the agent.");
    fireEvent.click(screen.getByRole("button", { name: "Choose" }));
    expect(`${currentPlace().path}${currentPlace().search}`).toBe("/agents?spawn=b-1");
  });
});
