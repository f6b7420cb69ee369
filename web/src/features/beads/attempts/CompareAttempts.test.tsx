import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Attempt, Attempts } from "../../../api/types";
import { CompareAttempts } from "./CompareAttempts";

const FOUND = {
  ...{ bead: "app-1", projectId: "p1", state: "running", needsChoice: true },
  attempts: [
    { number: 1, state: "done", gates: [], picked: false, commit: "c0ffee" } as unknown as Attempt,
  ],
} as unknown as Attempts;

describe("G14 attempts", () => {
  const pick = (userId: string) => {
    fakeServer({
      "GET /api/v1/beads/app-1/attempts/1/diff?projectId=p1": () => ok({ files: [], patch: "" }),
    });
    const close = () => undefined;
    renderPart(
      <CompareAttempts
        bead={{ id: "app-1", projectId: "p1" }}
        found={{ ...FOUND, userId }}
        shown="1"
        onShow={close}
        onClose={close}
      />,
      DEVELOPER,
    );
    return screen.getByRole("button", { name: "Pick attempt 1" });
  };

  it("are decided about by who asked for them", () => {
    expect(pick(DEVELOPER.userId).getAttribute("aria-disabled")).toBeNull();
  });

  it("say to everybody else why not", () => {
    expect(pick("u1").getAttribute("aria-disabled")).toBe("true");
    screen.getByText(/^The choice for app-1 is not yours: .*agent:execute:team\.$/);
  });
});
