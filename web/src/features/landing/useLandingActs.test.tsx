import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeLanding } from "../../../tests/fakeReview";
import { DEVELOPER, fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Menu } from "../../ui/Menu";
import { bead } from "../beads/fakeBead";
import { STATUSES } from "../beads/looks";
import { useLandingActs } from "./useLandingActs";

const LANDED = fakeLanding({ bead: "app-1", projectId: "p", stage: "landed", landed: true });
const fields = new URLSearchParams({ limit: "1000", filter: JSON.stringify({ status: STATUSES }) });

function More() {
  return <Menu label="More" items={useLandingActs().menuOf(LANDED, [LANDED])} />;
}

const page = (items: unknown[]) => ok({ items, pagination: { hasMore: false } });
const revert = () => screen.getByRole("menuitem", { name: /^Revert/ });

it.each([
  ["of somebody else is not taken back, and says why", "user:owner", "true"],
  ["of one's own is taken back", DEVELOPER.actor, null],
])("G14 a bead %s", async (_, createdBy, isOff) => {
  fakeServer({
    [`GET /api/v1/beads?${fields}`]: () => page([bead("app-1", { createdBy })]),
    "GET /api/v1/projects?limit=100": () => page([]),
  });
  renderPart(<More />, DEVELOPER);
  fireEvent.click(screen.getByRole("button", { name: "More" }));
  expect(revert().getAttribute("aria-disabled"), "before it is known").toBe("true");
  screen.getByText("It is not known yet whose bead app-1 is.");
  await waitFor(() => expect(screen.queryByText(/^It is not known yet/)).toBeNull());
  expect(revert().getAttribute("aria-disabled")).toBe(isOff);
  expect(screen.queryAllByText(/^app-1 is not yours: .*bead:update:team\.$/)).toHaveLength(
    isOff ? 1 : 0,
  );
});
