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
