import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Bead } from "../../api/types";
import { ConfirmHost } from "../../change/confirm";
import { Toaster } from "../../change/Toaster";
import { Menu } from "../../ui/Menu";
import { bead } from "../beads/fakeBead";
import { useRevertItem } from "./revert";

const LANDED = bead("app-1", { status: "done", landed: { branch: "main", target: "abc" } });

function More({ of }: { of: Bead }) {
  const item = useRevertItem();
  return <Menu label="More" items={() => [item(of)]} />;
}

function open(of: Bead, session = SESSION) {
  renderPart(
    <>
      <More of={of} />
      <ConfirmHost />
      <Toaster />
    </>,
    session,
  );
  fireEvent.click(screen.getByRole("button", { name: "More" }));
  return screen.getByRole("menuitem", { name: /^Revert/ });
}

it("C10 what a bead brought is taken back after a question that names the branch", async () => {
  const calls = fakeServer({
    "POST /api/v1/beads/app-1/revert?projectId=p": () => ok({ commit: "0123456789abcdef" }),
  });
  fireEvent.click(open(LANDED));
  await screen.findByText(/^A commit on main undoes what it brought, and the bead is open again/);
  expect(calls).toHaveLength(0);
  fireEvent.click(screen.getByRole("button", { name: "Take back app-1", hidden: true }));
  await screen.findByText(/^app-1 was taken back by /);
  expect(calls.map(({ method }) => method)).toEqual(["POST"]);
});

it.each([
  ["what is not done", bead("app-1"), "app-1 is not done."],
  [
    "what never landed",
    bead("app-1", { status: "done" }),
    "app-1 was closed without a change that landed.",
  ],
])("C10 %s is not taken back, and says why", (_, of, why) => {
  expect(open(of).getAttribute("aria-disabled")).toBe("true");
  screen.getByText(why);
});

it.each([
  ["of somebody else is not taken back", "user:owner", "true"],
  ["of one's own is", DEVELOPER.actor, null],
])("G14 a bead %s", (_, createdBy, isOff) => {
  expect(open({ ...LANDED, createdBy }, DEVELOPER).getAttribute("aria-disabled")).toBe(isOff);
});
