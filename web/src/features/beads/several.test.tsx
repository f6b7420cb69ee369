import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok, refuse } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { dismiss } from "../../change/toasts";
import { useMoveBeads } from "./changes";
import { bead } from "./fakeBead";

const BEADS = ["b-1", "b-2", "b-3"].map((id) => bead(id, { status: "open", projectId: "p" }));

function Mover() {
  const move = useMoveBeads();
  return (
    <>
      <button type="button" onClick={() => move.mutate({ beads: BEADS, status: "review" })}>
        Move
      </button>
      <Toaster />
    </>
  );
}

/** Moves three beads, of which the server refuses some as long as it is told to. */
function world(refuses: (id: string) => boolean) {
  for (let id = 0; id < 200; id += 1) dismiss(id);
  const calls = fakeServer(
    Object.fromEntries(
      BEADS.map((one) => [
        `POST /api/v1/beads/${one.id}/move?projectId=p`,
        () =>
          refuses(one.id)
            ? refuse(409, "bead_refused", "it has no commit")
            : ok({ ...one, status: "review" }),
      ]),
    ),
  );
  renderPart(<Mover />);
  fireEvent.click(screen.getByRole("button", { name: "Move" }));
  return (from = 0) =>
    calls
      .slice(from)
      .map(({ path, body }) => [path.split("/")[4], (body as { status: string }).status]);
}

it("C3 of several beads one that is refused keeps no other, and Undo is about those that moved", async () => {
  let refuses = true;
  const sent = world((id) => id === "b-2" && refuses);
  await screen.findByText("2 beads moved to Review");
  screen.getByText("Not done: Move “b-2” to Review");
  screen.getByText("It has no commit.");
  expect(sent()).toEqual(["b-1", "b-2", "b-3"].map((id) => [id, "review"]));
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  await expect
    .poll(() => sent(3))
    .toEqual([
      ["b-1", "open"],
      ["b-3", "open"],
    ]);
  // Only the one that was refused is tried again.
  refuses = false;
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  await screen.findByText("“b-2” moved to Review");
  expect(sent(5)).toEqual([["b-2", "review"]]);
});

it("C3 if all are refused nothing was moved", async () => {
  world(() => true);
  await screen.findByText("Not done: Move 3 beads to Review");
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});
