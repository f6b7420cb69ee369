import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { renderPart } from "../../../tests/renderPart";
import { clearFilter, useAgentFilter } from "./useAgentFilter";
import { matches } from "./views";

const AGENTS = [
  fakeAgent({ id: "a1", label: "ann", runtime: "worktree", model: "opus", teamId: "t1" }),
  fakeAgent({ id: "a2", label: "bob", runtime: "gvisor", model: "opus", teamId: "t2" }),
  fakeAgent({ id: "a3", label: "cat", runtime: "gvisor", model: "haiku", view: "waiting" }),
];
const TEAMS = new Map([
  ["t1", "Release"],
  ["t2", "Docs"],
]);

function Agents({ agents = AGENTS }) {
  const { filter, tools, isSet } = useAgentFilter(agents, TEAMS);
  const shown = agents.filter((agent) => matches(agent, filter)).map(({ label }) => label);
  return (
    <>
      {tools}
      <output data-set={isSet}>{shown.join(" ")}</output>
    </>
  );
}

const shown = () => screen.getByRole("status").textContent;
const choose = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

beforeEach(() => window.history.replaceState(null, "", "/dashboard/agents"));

describe("A3 agents are narrowed by", () => {
  it.each([
    ["Team", "t2", "bob", "team=t2"],
    ["Team", "none", "cat", "team=none"],
    ["Runtime", "gvisor", "bob cat", "runtime=gvisor"],
    ["Model", "haiku", "cat", "model=haiku"],
    ["Status", "waiting", "cat", "status=waiting"],
  ])("%s %s, and the address says so", (label, value, names, search) => {
    renderPart(<Agents />);
    expect(shown()).toBe("ann bob cat");
    choose(label, value);
    expect(shown()).toBe(names);
    expect(window.location.search).toBe(`?${search}`);
  });

  it("all of these together, from the address, until they are cleared", () => {
    window.history.replaceState(null, "", "/dashboard/agents?runtime=gvisor&model=opus&q=bo");
    renderPart(<Agents />);
    expect(shown()).toBe("bob");
    choose("Team", "t1");
    expect(shown()).toBe("");
    fireEvent.click(screen.getByRole("button", { name: "Clear the filter" }));
    clearFilter();
    expect(window.location.search).toBe("");
  });

  it("what they differ in: of one runtime and one model there is no choice", () => {
    renderPart(<Agents agents={AGENTS.slice(0, 1)} />);
    expect(screen.queryByLabelText("Runtime")).toBeNull();
    expect(screen.queryByLabelText("Model")).toBeNull();
  });
});
