import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Run, Workflow } from "../../../api/types";
import { Menu } from "../../../ui/Menu";
import { RunHead } from "../graph/RunHead";
import { SaveDrawer } from "./SaveDrawer";
import { useWorkflowActs } from "./useWorkflowActs";

const RELEASE: Workflow = {
  id: "w-1",
  name: "release",
  version: 1,
  createdBy: "u1",
  createdAt: "2026-11-16T10:00:00Z",
  updatedAt: "2026-11-16T10:00:00Z",
  source: "name: release\nsteps: []\n",
};
const RUN = {
  ...{ id: "run-12345678", name: "release", state: "running", createdBy: "u1", progress: 0.5 },
  ...{ counts: {}, createdAt: RELEASE.createdAt, workflowId: "w-1", inputs: {} },
} as unknown as Run;

function Acts({ workflow }: { workflow: Workflow }) {
  return <Menu label="More" items={useWorkflowActs()(workflow)} />;
}
const isOff = (element: HTMLElement) => element.getAttribute("aria-disabled") === "true";

beforeEach(() => sessionStorage.clear());

describe("G14 a workflow of somebody else", () => {
  const change = () => screen.getByRole("menuitem", { name: /^Change/ });

  it("can be run, but not changed, and says why", () => {
    const { unmount } = renderPart(<Acts workflow={RELEASE} />, DEVELOPER);
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    expect(isOff(change())).toBe(true);
    screen.getByText(/The workflow release is not yours: .*workflow:update:team\./);
    expect(isOff(screen.getByRole("menuitem", { name: /^Run/ }))).toBe(false);
    unmount();
    renderPart(<Acts workflow={{ ...RELEASE, createdBy: DEVELOPER.userId }} />, DEVELOPER);
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    expect(isOff(change())).toBe(false);
  });

  it("is not changed by its address either", async () => {
    const calls = fakeServer({ "GET /api/v1/workflows/release": () => ok(RELEASE) });
    renderPart(<SaveDrawer name="release" onClose={() => undefined} />, DEVELOPER);
    const text = await screen.findByLabelText("The workflow, as YAML or JSON");
    fireEvent.change(text, { target: { value: "name: release" } });
    const save = screen.getByRole<HTMLButtonElement>("button", { name: "Save the workflow" });
    expect(save.disabled).toBe(true);
    expect(save.title).toMatch(/^The workflow release is not yours: /);
    fireEvent.submit(text.closest("form") as HTMLFormElement);
    expect(calls.every(({ method }) => method === "GET")).toBe(true);
  });
});

describe("G14 a run of somebody else", () => {
  const button = (name: string) => screen.getByRole("button", { name });

  it("can be run again, but not led, and says why", () => {
    const { unmount } = renderPart(<RunHead run={RUN} />, DEVELOPER);
    for (const name of ["Pause", "Cancel"]) expect(isOff(button(name)), name).toBe(true);
    expect(screen.getAllByText(/^This run of release is not yours: /)).toHaveLength(2);
    expect(isOff(button("Run again"))).toBe(false);
    unmount();
    renderPart(<RunHead run={{ ...RUN, createdBy: DEVELOPER.userId }} />, DEVELOPER);
    for (const name of ["Pause", "Cancel"]) expect(isOff(button(name)), name).toBe(false);
  });
});
