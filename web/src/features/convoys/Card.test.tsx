import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Bead, ReviewRow } from "../../api/types";
import { bead } from "../beads/fakeBead";
import { Card } from "./Card";

const nothing = () => undefined;
const landed = (...gates: readonly boolean[]): Partial<Bead> => ({
  status: "done",
  landed: {
    branch: "main",
    target: "abc",
    ...(gates.length > 0 && { gates: gates.map((passed, at) => ({ gate: `g${at}`, passed })) }),
  },
});

function show(of: Partial<Bead>, review?: Partial<ReviewRow>) {
  render(
    <Card
      bead={bead("a", of)}
      lane="all"
      holds={[]}
      review={review as ReviewRow | undefined}
      menuOf={() => []}
      isPeeked={false}
      isSelected={false}
      isMoving={false}
      isStop
      onPress={nothing}
      onOpen={nothing}
      onFocus={nothing}
    />,
  );
  return screen.getByRole("article").textContent;
}

it("C2 a card in review says how large its change is and what the checks say", () => {
  const text = show({ status: "review" }, { commit: "c0ffee", added: 3, removed: 1, gates: true });
  expect(text).toContain("+3−1checks passed");
});

it.each([
  ["checks passed", landed(true, true)],
  ["1 of 2 checks failed", landed(true, false)],
])("C2 a card of work that landed says: %s", (words, of) => {
  expect(show(of)).toContain(words);
});

it.each([
  ["of work that landed without checks", landed()],
  ["of a bead that was closed without a change", { status: "done" }],
  ["of work that goes on", { status: "in-progress" }],
])("C2 a card %s says nothing of checks", (_, of) => {
  expect(show(of)).not.toContain("check");
});

it.each([
  ["its checks", landed(true), "+12−3checks passed"],
  ["no checks", landed(), "+12−3"],
])("C2 a card of work that landed says how large it was, with %s", (_, known, words) => {
  const change = { files: 2, added: 12, removed: 3 };
  expect(show({ ...known, landed: { ...known.landed, change } })).toContain(words);
});

it("C2 a card tells its id, title, type, priority, who has it and how old it is", () => {
  const text = show({
    ...{ title: "Fix the login", type: "bug", priority: "critical", agent: "worker-7" },
    createdAt: new Date(Date.now() - 3 * 3_600_000).toISOString(),
  });
  for (const word of ["Fix the login", "worker-7", "3h ago"]) expect(text).toContain(word);
  expect(text?.toLowerCase()).toContain("bug");
  expect(text?.toLowerCase()).toContain("critical");
  expect(document.querySelector('[data-card="a"]')).not.toBeNull();
});
