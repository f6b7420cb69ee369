import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeServer, ok, refuse } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { bead } from "./fakeBead";
import { NewBead } from "./NewBead";

const title = () => screen.getByLabelText<HTMLInputElement>("What is to be done");

/** Opens the form, writes a title unless one is there, sends it, and leaves as the page does. */
function send(text: string): void {
  let leave: () => void = () => undefined;
  const { unmount } = renderPart(<NewBead project="p" onClose={() => leave()} />);
  leave = unmount;
  fireEvent.change(title(), { target: { value: text } });
  fireEvent.submit(title());
}

/** What the form has in it when it is opened. */
function reopened(): string {
  const { unmount } = renderPart(<NewBead project="p" onClose={() => undefined} />);
  const { value } = title();
  unmount();
  return value;
}

beforeEach(() => sessionStorage.clear());

describe("G2 what was typed for a new bead", () => {
  it("is kept when the server refuses, and forgotten when a second try makes it", async () => {
    let isBroken = true;
    const calls = fakeServer({
      "POST /api/v1/beads": () =>
        isBroken ? refuse(503, "unavailable", "the disk is full") : ok(bead("b-1")),
    });
    renderPart(<Toaster />);
    send("Say hello");
    await screen.findByText("The disk is full.");
    expect(reopened()).toBe("Say hello");
    isBroken = false;
    fireEvent.click(screen.getByRole("button", { name: "Retry" }));
    await expect.poll(reopened).toBe("");
    expect(calls.filter(({ method }) => method === "POST")).toHaveLength(2);
  });

  it("does not come back while it is on its way, nor takes the next one with it", async () => {
    const calls = fakeServer({ "POST /api/v1/beads": () => ok(bead("b-1")) });
    send("One");
    expect(reopened()).toBe("");
    renderPart(<NewBead project="p" onClose={() => undefined} />);
    fireEvent.change(title(), { target: { value: "Two" } });
    await expect.poll(() => calls.some(({ method }) => method === "POST")).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sessionStorage.getItem("godel.draft.bead.new")).toContain("Two");
  });
});
