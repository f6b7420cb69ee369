import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Convoy } from "../../api/types";
import { bead } from "../beads/fakeBead";
import type { Lane } from "./board";
import { InlineCreate } from "./InlineCreate";

const LANE: Lane = {
  id: "all",
  title: "All beads",
  cells: { open: [], "in-progress": [], review: [], done: [] },
};
const CONVOY: Convoy = {
  id: "c-1",
  projectId: "p",
  name: "Night",
  status: "open",
  beads: [],
  createdBy: "user:ann",
  createdAt: "2026-11-16T10:00:00Z",
  updatedAt: "2026-11-16T10:00:00Z",
};
const DEVELOPER = {
  ...SESSION,
  role: "developer",
  permissions: ["bead:create:own", "convoy:update:own"],
};

const begin = () => screen.getByRole("button", { name: "New bead" });
const line = () => screen.getByLabelText<HTMLTextAreaElement>(/^New bead: /);

beforeEach(() => sessionStorage.clear());

describe("a new bead at the foot of a column", () => {
  it("G5 comes back with all its lines if the server refuses it", async () => {
    let isRefused = true;
    const calls = fakeServer({
      "POST /api/v1/beads": () =>
        isRefused ? refuse(409, "conflict", "not now") : ok(bead("b-1")),
    });
    renderPart(<InlineCreate lane={LANE} status="open" project="p" />);
    fireEvent.click(begin());
    fireEvent.change(line(), { target: { value: "one\ntwo" } });
    fireEvent.keyDown(line(), { key: "Enter" });
    expect(line().value).toBe("");
    await waitFor(() => expect(line().value).toBe("one\ntwo"));
    isRefused = false;
    fireEvent.keyDown(line(), { key: "Enter" });
    await waitFor(() => expect(calls).toHaveLength(3));
    expect(line().value).toBe("");
  });

  it("G14 is refused in the convoy of somebody else, who may change only one's own", () => {
    const lane = { ...LANE, convoy: CONVOY };
    renderPart(<InlineCreate lane={lane} status="open" project="p" />, DEVELOPER);
    expect(begin().getAttribute("aria-disabled")).toBe("true");
    expect(begin().title).toMatch(/^Night is not yours: Your role developer/);
  });
});
