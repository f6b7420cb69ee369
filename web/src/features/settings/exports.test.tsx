import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { saveAs } from "../../ui/saveAs";
import { exportCli, readActs } from "./auditExport";
import { ExportActs } from "./ExportActs";
import { SessionSection } from "./SessionSection";
import { saveUser } from "./userExport";

vi.mock("../../ui/saveAs", () => ({ saveAs: vi.fn() }));
const saved = vi.mocked(saveAs);

const pathOf = (cursor?: string) => {
  const fields = new URLSearchParams({ limit: "100", filter: '{"result":"denied"}' });
  if (cursor) fields.set("cursor", cursor);
  return `GET /api/v1/audit?${fields}`;
};
const act = (seq: number) => ({ seq, action: "user:erase" });
const FILTER = { result: "denied" };

beforeEach(() => saved.mockClear());

describe("the record as a file", () => {
  it("G12 has every act of the filter, one a line, page after page", async () => {
    fakeServer({
      [pathOf()]: () => ok({ items: [act(3), act(2)], pagination: { hasMore: true, cursor: "c" } }),
      [pathOf("c")]: () => ok({ items: [act(1)], pagination: { hasMore: false } }),
    });
    renderPart(<ExportActs filter={FILTER} />);
    fireEvent.click(screen.getByRole("button", { name: "Export" }));
    await expect.poll(() => saved.mock.calls.length).toBe(1);
    const [name, content] = saved.mock.calls[0] ?? [];
    expect(name).toBe("godel-audit.jsonl");
    const lines = (await content?.text())?.trim().split("\n") ?? [];
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([3, 2, 1]);
  });

  it("waits when the server wants it slower, and loses nothing", async () => {
    let asked = 0;
    fakeServer({
      [pathOf()]: () => {
        asked += 1;
        return asked < 3
          ? refuse(429, "rate_limited", "too fast")
          : ok({ items: [act(1)], pagination: { hasMore: false } });
      },
    });
    const acts = await readActs(FILTER, { onPart: () => true, slowDownMs: 1 });
    expect(acts?.map(({ seq }) => seq)).toEqual([1]);
    expect(asked).toBe(3);
  });

  it("is not read on when nobody is there any more", async () => {
    const calls = fakeServer({
      [pathOf()]: () => ok({ items: [act(1)], pagination: { hasMore: true, cursor: "c" } }),
    });
    expect(await readActs(FILTER, { onPart: () => false })).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  it("G14 is refused before the click to who may not read the record", () => {
    const session = { ...SESSION, role: "viewer", permissions: ["agent:read:team"] };
    renderPart(<ExportActs filter={{}} />, session);
    const button = screen.getByRole("button", { name: "Export" });
    expect(button.getAttribute("aria-disabled")).toBe("true");
  });

  it("is the same on the command line", () => {
    expect(exportCli({ action: "user:*", result: "ok" })).toBe(
      "godel audit export --action 'user:*' --result ok > acts.jsonl",
    );
  });
});

describe("what is known of a person", () => {
  it("G12 everybody gets their own", async () => {
    fakeServer({
      "GET /api/v1/users/u1/export": () => ok({ user: { name: "owner" }, keys: [], acts: [] }),
    });
    renderPart(<SessionSection />);
    fireEvent.click(screen.getByRole("button", { name: "Export what is known of you" }));
    await expect.poll(() => saved.mock.calls.length).toBe(1);
    const [name, content] = saved.mock.calls[0] ?? [];
    expect(name).toBe("owner.json");
    expect(JSON.parse((await content?.text()) ?? "").user.name).toBe("owner");
  });

  it("says why if the server gives nothing", async () => {
    fakeServer({
      "GET /api/v1/users/u9/export": () => refuse(404, "user_not_found", "there is no such user"),
    });
    renderPart(<Toaster />);
    await saveUser({ id: "u9", name: "ann" });
    await screen.findByText("Not done: Export ann");
    expect(saved).not.toHaveBeenCalled();
  });
});
