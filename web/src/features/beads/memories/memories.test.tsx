import { fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { done, fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Memory } from "../../../api/types";
import { Toaster } from "../../../change/Toaster";
import { MemoryDrawer } from "./MemoryDrawer";
import { having, listCli, nameFault, rememberCli } from "./memories";

const memory = (id: string, text: string, projectId = "p1"): Memory => ({
  id,
  projectId,
  text,
  createdBy: "user:owner",
  updatedAt: "2026-11-15T10:00:00Z",
});
const REDIS = memory("redis", "Tests need Redis on port 6380");
const BUILD = memory("build-command", "make -j4 all");
const projects = (...names: string[]) => ({
  "GET /api/v1/projects?limit=100": () =>
    ok({
      items: names.map((name, at) => ({ id: `p${at + 1}`, name })),
      pagination: { hasMore: false },
    }),
});
const LIST = "GET /api/v1/memories";
const SAY = "POST /api/v1/memories?projectId=p1";

const show = (session = SESSION) =>
  renderPart(
    <>
      <MemoryDrawer onClose={() => undefined} />
      <Toaster />
    </>,
    session,
  );
const write = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const button = (name: string) => screen.getByRole("button", { name });
/** Messages outlive the part that they came from, so the one that is meant is named. */
async function undo(title: string): Promise<void> {
  const message = (await screen.findByText(title)).closest<HTMLElement>("[role=status]");
  if (!message) throw new Error(`${title} is no message`);
  // Outside of the drawer nothing can be pressed while it is open.
  expect(message.closest("dialog")).not.toBeNull();
  fireEvent.click(within(message).getByRole("button", { name: "Undo" }));
}
const isOff = (name: string) => button(name).getAttribute("aria-disabled") === "true";
const names = () =>
  [...document.querySelectorAll("[data-memory]")].map((one) => one.getAttribute("data-memory"));

beforeEach(() => {
  sessionStorage.clear();
  history.replaceState(null, "", "/dashboard/beads");
});

describe("what is remembered", () => {
  it("is found by all words, in names and texts, as the command line finds it", () => {
    expect(having([REDIS, BUILD], " PORT redis ")).toEqual([REDIS]);
    expect(having([REDIS, BUILD], "build make")).toEqual([BUILD]);
    expect(having([REDIS, BUILD], "")).toEqual([REDIS, BUILD]);
    expect(listCli("redis port")).toBe("godel memories redis port");
    expect(rememberCli({ text: "make -j4", name: "build" })).toBe(
      "godel remember 'make -j4' --name build",
    );
  });

  it("has names of small letters, digits and hyphens", () => {
    for (const good of ["", "build-command", "6380"]) expect(nameFault(good)).toBeUndefined();
    for (const bad of ["Build", "a b", "-a", "ä", "a".repeat(61)]) {
      expect(nameFault(bad), bad).toBeDefined();
    }
  });

  it("G12 is listed, looked through and added to; what is refused goes, and its text stays", async () => {
    const all = [BUILD];
    let isRefused = true;
    const calls = fakeServer({
      ...projects("app"),
      [LIST]: () => ok({ items: all }),
      [SAY]: () => {
        if (isRefused) return refuse(409, "conflict", "the repository is busy");
        all.push(REDIS);
        return ok(REDIS);
      },
    });
    show();
    await screen.findByText("make -j4 all");
    write("What to know", REDIS.text);
    write("Name, if you like", "Redis");
    expect(isOff("Remember")).toBe(true);
    write("Name, if you like", "redis");
    fireEvent.click(button("Remember"));
    await screen.findByText("Not done: Remember redis");
    await expect.poll(names).toEqual(["build-command"]);
    expect(screen.getByLabelText<HTMLTextAreaElement>("What to know").value).toBe(REDIS.text);
    isRefused = false;
    fireEvent.click(button("Remember"));
    await screen.findByText("redis is remembered");
    await expect.poll(names).toEqual(["build-command", "redis"]);
    expect(calls.findLast(({ method }) => method === "POST")?.body).toEqual({
      text: REDIS.text,
      name: "redis",
    });
    await expect
      .poll(() => screen.getByLabelText<HTMLTextAreaElement>("What to know").value)
      .toBe("");
    write("Look for words", "redis");
    await expect.poll(names).toEqual(["redis"]);
    write("Look for words", "nowhere");
    await screen.findByText("No names or texts match the filter.");
  });

  it("G12 what had the name before comes back by Undo", async () => {
    const calls = fakeServer({
      ...projects("app"),
      [LIST]: () => ok({ items: [BUILD] }),
      [SAY]: () => ok(BUILD),
    });
    show();
    await screen.findByText("make -j4 all");
    write("What to know", "make -j4 all");
    expect(isOff("Remember")).toBe(true);
    write("What to know", "just build");
    write("Name, if you like", "build-command");
    screen.getByText("build-command is known already: this takes its place.");
    fireEvent.click(button("Remember"));
    await undo("build-command is remembered");
    const said = () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
    await expect.poll(said).toEqual([
      { text: "just build", name: "build-command" },
      { text: "make -j4 all", name: "build-command" },
    ]);
  });

  it("G12 is forgotten, and remembered again under its name by Undo", async () => {
    const all = [BUILD];
    const calls = fakeServer({
      ...projects("app"),
      [LIST]: () => ok({ items: [...all] }),
      "DELETE /api/v1/memories/build-command?projectId=p1": () => {
        all.pop();
        return done();
      },
      [SAY]: () => {
        all.push(BUILD);
        return ok(BUILD);
      },
    });
    show();
    fireEvent.click(await screen.findByRole("button", { name: "Forget build-command" }));
    await screen.findByText(/^Nothing is remembered yet/);
    await undo("build-command is forgotten");
    await screen.findByText("make -j4 all");
    expect(calls.findLast(({ method }) => method === "POST")?.body).toEqual({
      text: BUILD.text,
      name: BUILD.id,
    });
  });

  it("of several projects says of which, and wants to know for which", async () => {
    fakeServer({
      ...projects("app", "web"),
      [LIST]: () => ok({ items: [REDIS, memory("redis", "elsewhere", "p2")] }),
    });
    show();
    await screen.findByText("elsewhere");
    const list = within(screen.getByRole("list", { name: "What is remembered" }));
    await list.findByText("web");
    write("What to know", "hello");
    expect(isOff("Remember")).toBe(true);
    screen.getByText("Choose a project first.");
    fireEvent.change(screen.getByLabelText("Project"), { target: { value: "p2" } });
    expect(isOff("Remember")).toBe(false);
  });

  it("G14 G8 who may only read is told so, and so is who may not", async () => {
    fakeServer({ ...projects("app"), [LIST]: () => ok({ items: [BUILD] }) });
    const viewer = show({ ...SESSION, role: "viewer", permissions: ["bead:read:team"] });
    await screen.findByText("make -j4 all");
    write("What to know", "hello");
    expect(isOff("Remember")).toBe(true);
    expect(isOff("Forget build-command")).toBe(true);
    viewer.unmount();
    fakeServer({ ...projects("app"), [LIST]: () => refuse(403, "forbidden", "you may not look") });
    show();
    await screen.findByText(/You may not look/i);
  });
});
