import { fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { fakeServer } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { useKeys } from "../../actions/listener";
import { AgentCards } from "./AgentCards";

const ANN = fakeAgent({ id: "a1", label: "ann" });
const BOB = fakeAgent({ id: "a2", label: "bob" });
const CAT = fakeAgent({ id: "a3", label: "cat" });

function Changing() {
  useKeys();
  const [agents, setAgents] = useState([ANN, BOB]);
  const nothing = () => undefined;
  return (
    <>
      <button type="button" onClick={() => setAgents([CAT, BOB, ANN])}>
        Change
      </button>
      <AgentCards agents={agents} peeked={undefined} onPeek={nothing} onOpen={nothing} />
    </>
  );
}

const cards = () =>
  [...document.querySelectorAll<HTMLElement>("[data-agent]")].map((card) => card.dataset.agent);
const press = (key: string) => fireEvent.keyDown(document.body, { key });
const change = () => fireEvent.click(screen.getByRole("button", { name: "Change" }));

beforeEach(() => {
  window.history.replaceState(null, "", "/dashboard/agents");
  fakeServer({});
  renderPart(<Changing />);
});

it("cards keep their places under a cursor that keys have set, until Esc", () => {
  const before = cards();
  press("j");
  change();
  expect(cards()).toEqual(before);
  screen.getByRole("button", { name: "1 new agent" });
  press("Escape");
  expect(cards()).toHaveLength(3);
  expect(cards()).toEqual([expect.anything(), ...before.toReversed()]);
});

it("cards change places while nobody is there", () => {
  change();
  expect(cards()).toHaveLength(3);
});

it("G16 keys lead to cards that are out of view, and bring them there", () => {
  const many = Array.from({ length: 200 }, (_, at) => fakeAgent({ id: `m${at}`, label: `m${at}` }));
  document.body.innerHTML = "";
  const nothing = () => undefined;
  function Keyed() {
    useKeys();
    return <AgentCards agents={many} peeked={undefined} onPeek={nothing} onOpen={nothing} />;
  }
  renderPart(<Keyed />);
  expect(cards()).not.toContain("m60");
  for (let times = 0; times <= 60; times += 1) press("j");
  const box = screen.getByRole("list", { name: "Agents" }).parentElement?.parentElement;
  expect(box?.scrollTop).toBeGreaterThan(0);
  if (box) fireEvent.scroll(box);
  expect(cards()).toContain("m60");
});

it("G16 in teams keys go as cards are drawn, and not into teams that are folded", () => {
  const of = (id: string, teamId: string | undefined) =>
    fakeAgent({ id, label: id, ...(teamId && { teamId }) });
  const agents = [of("b1", "b"), of("a1", "a"), of("b2", "b"), of("a2", "a"), of("c1", "c")];
  document.body.innerHTML = "";
  localStorage.setItem("godel.agents.closed", JSON.stringify(["c"]));
  const went: string[] = [];
  function Keyed() {
    useKeys();
    return (
      <AgentCards
        agents={agents}
        peeked={undefined}
        onPeek={({ id }) => went.push(id)}
        onOpen={() => undefined}
        teams={
          new Map([
            ["a", "A"],
            ["b", "B"],
            ["c", "C"],
          ])
        }
      />
    );
  }
  renderPart(<Keyed />);
  for (let times = 0; times < 5; times += 1) {
    press("j");
    press(" ");
  }
  expect(went).toEqual(cards().concat(cards().at(-1)));
  expect(went).not.toContain("c1");
  // Who unfolds a team sees its agents at once, also while the list keeps still for the pointer.
  const team = screen.getByRole("button", { name: /^C/ });
  fireEvent.pointerEnter(team.closest("section")?.parentElement ?? team, { pointerType: "mouse" });
  fireEvent.click(team);
  expect(cards()).toContain("c1");
});
