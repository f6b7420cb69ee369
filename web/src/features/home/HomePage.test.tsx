import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer, HEALTH, ok, SESSION } from "../../../tests/fakeServer";
import { FakeWire, makeEvent } from "../../../tests/fakeWire";
import { renderApp } from "../../../tests/renderApp";

beforeEach(() => {
  FakeWire.all = [];
  vi.stubGlobal("WebSocket", FakeWire);
  window.history.replaceState(null, "", "/dashboard/");
});

/** A signed-in page whose stream is live behind sequence `head`. */
async function livePage({ head = 10, health = HEALTH as object, status = 200, routes = {} } = {}) {
  fakeServer({
    ...routes,
    "GET /auth/me": () => ok(SESSION),
    "GET /health": () => ({ status, body: health }),
  });
  renderApp();
  await screen.findByText("acme");
  const wire = FakeWire.last;
  let subscription = "";
  await act(async () => {
    wire.open();
    subscription = wire.accept(head);
    if (wire.frames("subscribe").length > 1) subscription = wire.accept(head);
  });
  return {
    wire,
    subscription,
    async publish(sequence: number, type = "agent:start") {
      await act(async () => wire.event(subscription, sequence, type));
    },
  };
}

const list = () => screen.queryByRole("list", { name: "Events, newest first" });
const closedRows = () => {
  const events = list();
  return events ? within(events).queryAllByRole("button", { expanded: false }) : [];
};
const rows = () => closedRows().map((row) => row.textContent);
const findRow = () =>
  waitFor(() => {
    const [row] = closedRows();
    if (!row) throw new Error("no event is shown");
    return row;
  });
const badge = () => within(screen.getByRole("banner")).getByRole("status").textContent;

describe("the event stream", () => {
  it("connects to the server the page came from", async () => {
    const { wire } = await livePage();
    expect(wire.url).toMatch(/^ws:\/\/[^/]+\/events$/);
    expect(wire.protocol).toBe("godel-events-v1");
    expect(badge()).toBe("Live");
  });

  it("shows new events first, with all their parts", async () => {
    const page = await livePage({ head: 0 });
    await page.publish(1, "agent:start");
    await page.publish(2, "task:queued");
    await waitFor(() => expect(rows()).toHaveLength(2));
    expect(rows()[0]).toContain("task:queued");
    expect(rows()[1]).toMatch(/\d\d:\d\d:\d\d\.\d{3}agent:start.*test1$/);
    expect(screen.getByText("2 events")).toBeTruthy();
  });

  it("opens a row to the whole event", async () => {
    const page = await livePage({ head: 0 });
    await page.publish(1);
    const row = await findRow();
    fireEvent.click(row);
    expect(row.getAttribute("aria-expanded")).toBe("true");
    expect(screen.getByText("event-1")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy event" })).toBeTruthy();
  });

  it("stands still while paused and shows what waits", async () => {
    const user = userEvent.setup();
    const page = await livePage({ head: 0 });
    await page.publish(1);
    await waitFor(() => expect(rows()).toHaveLength(1));
    await user.click(screen.getByRole("button", { name: "Pause" }));
    await page.publish(2);
    await page.publish(3);
    expect(await screen.findByRole("button", { name: "2 new events" })).toBeTruthy();
    expect(rows()).toHaveLength(1);
    await user.click(screen.getByRole("button", { name: "Resume" }));
    await waitFor(() => expect(rows()).toHaveLength(3));
    expect(screen.queryByText(/new event/)).toBeNull();
  });

  it("does not move under the mouse", async () => {
    const page = await livePage({ head: 0 });
    await page.publish(1);
    const list = await screen.findByRole("list", { name: "Events, newest first" });
    const box = list.parentElement?.parentElement;
    if (!box) throw new Error("the list has no box");
    act(() => {
      box.dispatchEvent(new PointerEvent("pointerenter", { pointerType: "mouse" }));
    });
    await page.publish(2);
    const fresh = await screen.findByRole("button", { name: "1 new event" });
    expect(rows()).toHaveLength(1);
    fireEvent.click(fresh);
    await waitFor(() => expect(rows()).toHaveLength(2));
  });

  it("filters and remembers it in the address, over the same connection", async () => {
    const user = userEvent.setup();
    const page = await livePage({ head: 0 });
    await page.publish(1, "agent:start");
    await page.publish(2, "task:queued");
    await user.type(await screen.findByLabelText("Filter by type pattern"), "task");
    await waitFor(() => expect(rows()).toHaveLength(1));
    expect(window.location.search).toBe("?events=task%3A*");
    await user.click(screen.getByRole("button", { name: "Clear the filter" }));
    await waitFor(() => expect(rows()).toHaveLength(2));
    expect(window.location.search).toBe("");
    expect(page.wire.frames("subscribe").map((frame) => frame.payload.patterns)).toEqual([["*"]]);
    expect(FakeWire.all.filter((wire) => !wire.isClosed)).toHaveLength(1);
  });

  it("moves again when a filter took away the row that was open", async () => {
    const user = userEvent.setup();
    const page = await livePage({ head: 0 });
    await page.publish(1, "agent:start");
    fireEvent.click(await findRow());
    await user.type(await screen.findByLabelText("Filter by type pattern"), "task");
    await screen.findByText(/No recent event matches/);
    await page.publish(2, "task:queued");
    await waitFor(() => expect(rows()).toHaveLength(1));
  });

  it("starts with the filter from the address", async () => {
    window.history.replaceState(null, "", "/dashboard/?events=agent%3A*");
    const page = await livePage({ head: 0 });
    expect(await screen.findByText(/No recent event matches/)).toBeTruthy();
    await page.publish(1, "task:queued");
    await page.publish(2, "agent:start");
    await waitFor(() => expect(rows()).toHaveLength(1));
  });

  it("G9 shows what belongs to one request, however long ago it was, and then all again", async () => {
    const trace = "0123456789abcdef0123456789abcdef";
    const of = (sequence: number, type: string, traceId?: string) => ({
      ...makeEvent(sequence, type),
      metadata: traceId ? { traceId } : {},
    });
    const fields = new URLSearchParams({
      limit: "100",
      filter: JSON.stringify({ traceId: trace }),
    });
    window.history.replaceState(null, "", `/dashboard/?trace=${trace}`);
    const { wire, subscription } = await livePage({
      head: 0,
      routes: {
        [`GET /api/v1/events?${fields}`]: () =>
          ok({ items: [of(1, "bead:created", trace)], pagination: { hasMore: false } }),
      },
    });
    const types = () =>
      rows().map((row) => /(bead|task):(created|queued|moved)/.exec(row ?? "")?.[0]);
    await waitFor(() => expect(types()).toEqual(["bead:created"]));
    const events = [of(1, "bead:created", trace), of(2, "task:queued"), of(3, "bead:moved", trace)];
    const metadata = { subscriptionId: subscription };
    await act(async () => wire.receive({ type: "events", payload: { events }, metadata }));
    await waitFor(() => expect(types()).toEqual(["bead:moved", "bead:created"]));
    fireEvent.click(screen.getByRole("button", { name: `Show more than trace ${trace}` }));
    await waitFor(() => expect(types()).toEqual(["bead:moved", "task:queued", "bead:created"]));
    expect(window.location.search).toBe("");
  });

  it("explains a pattern it cannot read and keeps the old one", async () => {
    const user = userEvent.setup();
    await livePage();
    const field = await screen.findByLabelText("Filter by type pattern");
    await user.type(field, "agent start");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(window.location.search).toBe("");
  });

  it("resumes after a lost connection, each event once", async () => {
    const page = await livePage({ head: 0 });
    await page.publish(1);
    await act(async () => page.wire.drop());
    expect(badge()).toBe("Reconnecting");
    await waitFor(() => expect(FakeWire.last).not.toBe(page.wire));
    await act(async () => {
      FakeWire.last.open();
      const again = FakeWire.last.accept(3);
      FakeWire.last.events(again, [1, 2, 3]);
    });
    expect(FakeWire.last.subscribe.payload.after).toBe(1);
    await waitFor(() => expect(rows()).toHaveLength(3));
    expect(badge()).toBe("Live");
  });

  it("says what is missing", async () => {
    const page = await livePage({ head: 0 });
    await page.publish(1);
    await act(async () =>
      page.wire.receive({
        type: "lagged",
        payload: { fromSequence: 2, toSequence: 38, reason: "slow" },
        metadata: { subscriptionId: page.subscription },
      }),
    );
    expect(await screen.findByText(/37 events not shown \(2 to 38\)/)).toBeTruthy();
  });

  it("draws few rows of many", async () => {
    const page = await livePage({ head: 0 });
    const many = Array.from({ length: 1_500 }, (_, index) => index + 1);
    await act(async () => page.wire.events(page.subscription, many));
    await screen.findByText("1,500 events");
    expect(rows().length).toBeGreaterThan(5);
    expect(rows().length).toBeLessThan(60);
  });

  it("helps when nothing has happened yet", async () => {
    await livePage({ head: 0 });
    expect(screen.getByText(/Publish the first event/)).toBeTruthy();
  });
});

describe("server health", () => {
  it("shows the verdict and each probe", async () => {
    await livePage();
    const panel = screen.getByRole("region", { name: "Server health" });
    expect(await within(panel).findByText("Healthy")).toBeTruthy();
    expect(panel.textContent).toContain("Godel 1.2.3");
    expect(panel.textContent).toContain("0.40 ms");
    expect(panel.textContent).toContain("500 GB free");
  });

  it("reads the body of an unhealthy answer", async () => {
    const checks = { database: { status: "unhealthy", latencyMs: 5_000 } };
    await livePage({ status: 503, health: { ...HEALTH, status: "unhealthy", checks } });
    const panel = screen.getByRole("region", { name: "Server health" });
    expect(await within(panel).findByText("Unhealthy")).toBeTruthy();
    expect(panel.textContent).toContain("5.0 s");
  });

  it("stays on the page when the health check itself fails", async () => {
    await livePage({ status: 502, health: {} });
    expect(await screen.findByText("Not reachable")).toBeTruthy();
    expect(screen.getByText("Events")).toBeTruthy();
  });
});
