import { QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { makeEvent } from "../../../tests/fakeWire";
import type { Preview } from "../../api/types";
import { Toaster } from "../../change/Toaster";
import { newQueryClient } from "../../queryClient";
import { RuleRunner } from "../../realtime/rules";
import { SessionProvider } from "../../roles/session";
import { BeadPreview } from "./BeadPreview";
import { fakePreview } from "./fakePreview";
import { PreviewPanel } from "./PreviewPanel";
import { ofAgent } from "./target";

const TARGET = ofAgent({ id: "a1", label: "worker-1" });
const LIST = "GET /api/v1/previews";
const START = "POST /api/v1/previews";

const button = (name: string) => screen.getByRole("button", { name });
const panel = (foreign?: string) => <PreviewPanel target={TARGET} foreign={foreign} />;

function show(part = panel(), session = SESSION) {
  const client = newQueryClient();
  const view = render(
    <QueryClientProvider client={client}>
      <SessionProvider value={session}>{part}</SessionProvider>
      <Toaster />
    </QueryClientProvider>,
  );
  const runner = new RuleRunner(client);
  const hear = (state: Preview["state"]) =>
    act(() => runner.apply([makeEvent(1, `preview:${state}`, { id: "v1", state })]));
  return { ...view, hear };
}

/** A server with previews as they are at the moment. */
function serve(...previews: Preview[]) {
  let all = previews;
  const one = () => ok(all[0]);
  const calls = fakeServer({
    [LIST]: () => ok({ items: all.map((each) => ({ ...each, output: "" })) }),
    "GET /api/v1/previews/v1": one,
    [START]: () => {
      all = [fakePreview({ state: "starting", why: "nothing listens on port 43127 yet" })];
      return { ...one(), status: 201 };
    },
    "DELETE /api/v1/previews/v1": () => {
      all = [fakePreview({ state: "ended", why: "it was stopped" })];
      return one();
    },
  });
  const sent = () => calls.filter(({ method }) => method !== "GET").map(({ body }) => body);
  return { calls, sent, becomes: (special: Partial<Preview>) => (all = [fakePreview(special)]) };
}

beforeEach(() => sessionStorage.clear());
afterEach(() => vi.restoreAllMocks());

describe("C5 the app that an agent works on", () => {
  it("is started by a button that shows its command, and is linked when it listens", async () => {
    const { sent, becomes } = serve();
    const { hear } = show();
    const start = await screen.findByRole("button", { name: "Preview the app" });
    screen.getByText("godel preview start worker-1");
    fireEvent.click(start);
    await screen.findByText("Starting");
    expect(sent()).toEqual([{ agent: "a1" }]);
    await screen.findByText("Nothing listens on port 43127 yet.");
    await screen.findByText("It has printed nothing yet.");
    becomes({ state: "starting", output: "added 12 packages\n> vite\n" });
    fireEvent.click(button("Look again"));
    await screen.findByText("> vite");
    becomes({ state: "ready" });
    hear("ready");
    const link = await screen.findByRole("link", { name: "Open http://127.0.0.1:43127" });
    expect(link.getAttribute("href")).toBe("http://127.0.0.1:43127/");
    expect(link.getAttribute("target")).toBe("_blank");
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    screen.getByText("live: the files of worker-1, as they change");
    screen.getByText("Running");
  });

  it("G18 keeps the focus of whoever pressed a button that goes by it, and of nobody else", async () => {
    const { becomes } = serve();
    const { hear } = show();
    const start = await screen.findByRole("button", { name: "Preview the app" });
    start.focus();
    fireEvent.click(start);
    await screen.findByText("Starting");
    const whole = screen.getByRole("group", { name: "Preview" });
    await expect.poll(() => document.activeElement).toBe(whole);
    whole.blur();
    becomes({ state: "ended" });
    hear("ended");
    await screen.findByText("Preview ended");
    expect(document.activeElement).toBe(document.body);
  });

  it("is told to stop, and shown as ended at once", async () => {
    const { calls } = serve(fakePreview());
    show();
    fireEvent.click(await screen.findByRole("button", { name: "Stop" }));
    await screen.findByText("Preview ended");
    await screen.findByText("It was stopped.");
    expect(calls.map(({ method, path }) => `${method} ${path}`)).toContain(
      "DELETE /api/v1/previews/v1",
    );
    button("Start again");
  });

  it("says which commit it is of, if nobody works on it", async () => {
    serve(fakePreview({ isLive: false, commit: "0123456789abcdef0123456789abcdef01234567" }));
    show();
    await screen.findByText(/^of commit/);
    screen.getByText(/^ends/);
  });

  it("says why it ended, and what it printed for who asks", async () => {
    const { calls } = serve(
      fakePreview({
        ...{ state: "ended", exitCode: 1, why: "its command failed", output: "no such script\n" },
        endedAt: "2026-11-15T10:00:09Z",
      }),
    );
    show();
    await screen.findByText("Its command failed.");
    screen.getByText("with code 1");
    expect(calls.map(({ path }) => path)).not.toContain("/api/v1/previews/v1");
    fireEvent.click(button("What it printed"));
    await screen.findByText("no such script");
    screen.getByText("godel preview show v1");
  });

  it("asks how it is started if nobody knows, and keeps what was written", async () => {
    const why = "say how the app is started";
    const hint = "put `preview` into godel.toml";
    const calls = fakeServer({
      [LIST]: () => ok({ items: [] }),
      [START]: ({ body }) =>
        (body as { command?: string }).command
          ? ok(fakePreview({ state: "starting" }))
          : refuse(400, "invalid_request", why, { hint }),
      "GET /api/v1/previews/v1": () => ok(fakePreview({ state: "starting" })),
    });
    const { unmount } = show();
    fireEvent.click(await screen.findByRole("button", { name: "Preview the app" }));
    await screen.findByText("Say how the app is started. Put preview into godel.toml.");
    expect(button("Preview the app").getAttribute("aria-disabled")).toBe("true");
    const field = screen.getByLabelText("How the app is started");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    fireEvent.change(field, { target: { value: "make run" } });
    screen.getByText("godel preview start worker-1 -- 'make run'");
    unmount();
    show();
    const kept = await screen.findByLabelText<HTMLInputElement>("How the app is started");
    expect(kept.value).toBe("make run");
    fireEvent.click(button("Preview the app"));
    const sent = () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
    await expect.poll(sent).toEqual([{ agent: "a1" }, { agent: "a1", command: "make run" }]);
  });

  it("says why it cannot be, and offers another try", async () => {
    fakeServer({
      [LIST]: () => ok({ items: [] }),
      [START]: () => refuse(409, "conflict", "worker-1 works behind a kernel of its own"),
    });
    show();
    fireEvent.click(await screen.findByRole("button", { name: "Preview the app" }));
    await screen.findByText("Not done: Preview worker-1");
    screen.getByText("Worker-1 works behind a kernel of its own.");
    button("Retry");
    expect(screen.queryByLabelText("How the app is started")).toBeNull();
  });

  it("is reached by a tunnel if the server is another machine", async () => {
    serve(fakePreview());
    vi.spyOn(window, "location", "get").mockReturnValue({
      ...window.location,
      hostname: "godel.example",
    } as Location);
    show();
    await screen.findByText(/listens on the server's own machine only/);
    screen.getByText("ssh -L 43127:127.0.0.1:43127 godel.example");
    screen.getByRole("link", { name: "Open http://127.0.0.1:43127" });
  });
});

describe("G14 the app of somebody else", () => {
  const OTHERS = fakeAgent();
  const OWN = fakeAgent({ id: "a2", label: "worker-2", userId: DEVELOPER.userId });
  const agents = (...items: unknown[]) => {
    const filter = JSON.stringify({ bead: "app-4k2hm" });
    const path = `/api/v1/agents?${new URLSearchParams({ limit: "1000", filter })}`;
    fakeServer({
      [LIST]: () => ok({ items: [] }),
      [`GET ${path}`]: () => ok({ items, pagination: { hasMore: false } }),
    });
    show(<BeadPreview bead={{ id: "app-4k2hm", projectId: "p1" }} />, DEVELOPER);
  };

  it("is neither started nor stopped, and says why", async () => {
    serve(fakePreview({ state: "ended" }));
    const { unmount } = show(panel("worker-1 is not yours."), DEVELOPER);
    const again = await screen.findByRole("button", { name: "Start again" });
    expect(again.getAttribute("aria-disabled")).toBe("true");
    screen.getByText("worker-1 is not yours.");
    unmount();
    serve(fakePreview({ startedBy: "user:owner" }));
    show(panel(), DEVELOPER);
    const stop = await screen.findByRole("button", { name: "Stop" });
    expect(stop.getAttribute("aria-disabled")).toBe("true");
    screen.getByText(/^The preview is not yours: /);
  });

  it("is stopped by who started it", async () => {
    serve(fakePreview({ startedBy: "user:ann" }));
    show(panel(), DEVELOPER);
    const stop = await screen.findByRole("button", { name: "Stop" });
    expect(stop.getAttribute("aria-disabled")).toBeNull();
  });

  it("is known by who works on the bead", async () => {
    agents(OTHERS);
    await screen.findByText(/^worker-1 is not yours: /);
    expect(button("Preview the app").getAttribute("aria-disabled")).toBe("true");
  });

  it("may be looked at if it is of one's own agent", async () => {
    agents({ ...OTHERS, status: "completed" }, { ...OWN, spawnedAt: "2026-11-14T11:00:00Z" });
    await screen.findByText("godel preview start app-4k2hm");
    expect(button("Preview the app").getAttribute("aria-disabled")).toBeNull();
  });
});

it("is not offered where there is nothing to look at", async () => {
  const { calls } = serve();
  const { container } = show(<BeadPreview bead={{ id: "app-4k2hm" }} isIdle />);
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  expect(container.querySelector("[data-preview]")).toBeNull();
});
