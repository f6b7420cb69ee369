import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeServer, ok, refuse } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import { WorktreeDrawer, workIn } from "./WorktreeDrawer";

const PROJECTS = {
  "GET /api/v1/projects?limit=100": () =>
    ok({ items: [{ id: "p1", name: "web" }], pagination: { hasMore: false } }),
};
const show = () => renderPart(<WorktreeDrawer onClose={() => undefined} />);

describe("worktrees", () => {
  it("G12 each tells its place, its branch, its state and what is in it", async () => {
    fakeServer({
      ...PROJECTS,
      "GET /api/v1/worktrees": () =>
        ok({
          items: [
            {
              id: "web-1",
              projectId: "p1",
              path: "/app/.godel/worktrees/web-1",
              branch: "bead/web-1",
              head: "0123456789abcdef",
              ahead: 2,
              dirty: 1,
              state: "setup-failed",
            },
          ],
        }),
    });
    show();
    const line = within(await screen.findByRole("listitem"));
    line.getByText("/app/.godel/worktrees/web-1");
    line.getByText("bead/web-1");
    line.getByText("2 commits ahead, 1 file not committed");
    await line.findByText("web");
    line.getByText(/setup.failed/i);
  });

  it("G8 there is none, or they cannot be read", async () => {
    fakeServer({ ...PROJECTS, "GET /api/v1/worktrees": () => ok({ items: [] }) });
    const empty = show();
    await screen.findByText(/^There is no worktree/);
    empty.unmount();
    fakeServer({
      ...PROJECTS,
      "GET /api/v1/worktrees": () => refuse(403, "forbidden", "you may not look"),
    });
    show();
    await screen.findByText(/You may not look/i);
  });

  it("nothing new is not the same as not known", () => {
    expect(workIn({ ahead: 0, dirty: 0 })).toBe("nothing new in it");
    expect(workIn({ ahead: null, dirty: null })).toBe("not known what is in it");
  });
});
