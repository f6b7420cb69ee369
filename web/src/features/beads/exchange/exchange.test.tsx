import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import type { ImportedBeads } from "../../../api/types";
import { newQueryClient } from "../../../queryClient";
import { SessionProvider } from "../../../roles/session";
import { actOf, MAX_BYTES, readChosen, tellCounts } from "./exchange";
import { ImportDrawer } from "./ImportDrawer";

const PLAN: ImportedBeads = {
  projectId: "p1",
  dryRun: true,
  created: 1,
  updated: 1,
  unchanged: 3,
  changes: [
    { id: "app-1", title: "First", isNew: true, fields: [] },
    {
      id: "app-2",
      title: "Second",
      isNew: false,
      fields: [
        { name: "labels", before: null, after: '["ui"]' },
        { name: "title", before: "Two", after: "Second" },
      ],
    },
  ],
};
const PROJECTS = { items: [{ id: "p1", name: "app" }], pagination: { hasMore: false } };

describe("the exchange of beads", () => {
  it("tells how much would change", () => {
    expect(tellCounts(PLAN)).toBe("1 new, 1 changed, 3 as they are");
    expect(actOf(PLAN)).toBe("Import 2 beads");
    expect(actOf(undefined)).toBe("Import");
  });

  it("does not send what the server would not take", async () => {
    const large = new File([""], "beads.jsonl");
    Object.defineProperty(large, "size", { value: MAX_BYTES + 1 });
    await expect(readChosen(large)).rejects.toThrow("beads.jsonl is too large to be sent");
  });

  const show = (permissions = ["*:*:all"]) => {
    const onClose = vi.fn();
    render(
      <QueryClientProvider client={newQueryClient()}>
        <SessionProvider value={{ ...SESSION, role: "developer", permissions }}>
          <ImportDrawer onClose={onClose} />
        </SessionProvider>
      </QueryClientProvider>,
    );
    return { onClose, user: userEvent.setup() };
  };
  const choose = async (user: ReturnType<typeof userEvent.setup>) =>
    user.upload(
      await screen.findByLabelText(/^A file of beads/),
      new File(['{"id":"app-1"}\n'], "it's.jsonl"),
    );

  it("B4 shows what would change before anything does, then does it", async () => {
    const calls = fakeServer({
      "GET /api/v1/projects?limit=100": () => ok(PROJECTS),
      "POST /api/v1/beads/import?projectId=p1&dryRun=true": () => ok(PLAN),
      "POST /api/v1/beads/import?projectId=p1&dryRun=false": () => ok({ ...PLAN, dryRun: false }),
      "POST /api/v1/beads/import?dryRun=true": () => ok(PLAN),
    });
    const { user, onClose } = show();
    await choose(user);
    await screen.findByText("1 new, 1 changed, 3 as they are");
    expect(screen.getAllByRole("listitem").map((line) => line.textContent)).toEqual([
      "+New:Firstapp-1",
      '~Changed:Secondapp-2labels: ["ui"]title: Two → Second',
      'labels: ["ui"]',
      "title: Two → Second",
    ]);
    screen.getByText("godel import beads 'it'\\''s.jsonl'");
    expect(calls.some(({ path }) => path.includes("dryRun=false"))).toBe(false);
    await user.click(screen.getByRole("button", { name: "Import 2 beads" }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(calls.at(-1)?.headers.get("content-type")).toBe("application/x-ndjson");
  });

  it("B4 names the line that is wrong, and takes nothing", async () => {
    const wrong = () => refuse(400, "invalid_json", "line 3: missing field `title`");
    fakeServer({
      "GET /api/v1/projects?limit=100": () => ok(PROJECTS),
      "POST /api/v1/beads/import?projectId=p1&dryRun=true": wrong,
      "POST /api/v1/beads/import?dryRun=true": wrong,
    });
    const { user } = show();
    await choose(user);
    expect((await screen.findByRole("alert")).textContent).toContain("Line 3: missing field title");
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Import" }).disabled).toBe(true);
  });

  it("G14 who may not change beads of others finds the reason at the button", async () => {
    fakeServer({ "GET /api/v1/projects?limit=100": () => ok(PROJECTS) });
    show(["bead:update:own"]);
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Import" });
    expect(button.disabled).toBe(true);
    expect(button.title).toContain("it needs bead:update:team");
  });
});
