import { QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { useKeys } from "../../actions/listener";
import type { Notice } from "../../api/types";
import { newQueryClient } from "../../queryClient";
import { Page } from "./InboxPage";
import { nextChosen } from "./useChosen";

const question = (id: string, special: Partial<Notice> = {}) => ({
  ...{ id, kind: "question", agent: id, agentId: id, text: `Of ${id}?`, choices: [] },
  ...{ state: "open", createdAt: "2026-11-15T10:00:00Z" },
  ...special,
});

beforeEach(() => {
  fakeServer({
    "GET /api/v1/inbox?limit=100": () =>
      ok({
        items: [question("n1"), question("n2"), question("n3", { kind: "stuck" })],
        pagination: { hasMore: false },
      }),
  });
});

const open = (search: string) => {
  window.history.replaceState(null, "", `/dashboard/inbox${search}`);
  renderPart(<Page rest={[]} />);
};
const focusedCard = () =>
  document.activeElement?.closest("[data-notice]")?.getAttribute("data-notice");

it("C9 the address of a notice leads to its answer box, once", async () => {
  open("?notice=n2");
  await expect.poll(focusedCard).toBe("n2");
  expect(document.activeElement?.tagName).toBe("TEXTAREA");
  await expect.poll(() => window.location.search).toBe("");
  expect(document.querySelector('[data-notice="n2"]')?.hasAttribute("data-cursor")).toBe(true);
});

it("C9 what takes no words is pressed", async () => {
  open("?notice=n3");
  await expect.poll(focusedCard).toBe("n3");
  expect(document.activeElement?.textContent).toBe("Restart n3");
});

it("one that is answered already leads nowhere", async () => {
  open("?notice=gone");
  await screen.findByText("Of n1?");
  expect(focusedCard()).toBeUndefined();
});

it("says when the inbox shows not all of it", async () => {
  const items = Array.from({ length: 200 }, (_, at) => question(`n${at}`, { state: "answered" }));
  const filter = encodeURIComponent(JSON.stringify({ state: "all" }));
  fakeServer({
    [`GET /api/v1/inbox?limit=100&filter=${filter}`]: () =>
      ok({ items, pagination: { hasMore: true, cursor: "more" } }),
  });
  open("?show=all");
  await screen.findByText("Not all");
  screen.getByText(": Only the newest 200");
});

describe("an inbox with a thousand notices", () => {
  const MANY = 1_000;
  const client = newQueryClient();
  let items: ReturnType<typeof question>[];

  function Keyed() {
    useKeys();
    return <Page rest={[]} />;
  }

  const openMany = async (search = "") => {
    client.clear();
    items = Array.from({ length: MANY }, (_, at) => question(`n${at}`, { text: `Ask ${at}?` }));
    fakeServer({
      "GET /api/v1/inbox?limit=100": () => ok({ items, pagination: { hasMore: false } }),
    });
    window.history.replaceState(null, "", `/dashboard/inbox${search}`);
    renderPart(
      <QueryClientProvider client={client}>
        <Keyed />
      </QueryClientProvider>,
    );
    await screen.findByRole("list", { name: "Waiting for you" });
    // Keys are bound by an effect; it comes after what it is about was drawn.
    await act(async () => undefined);
  };
  const ids = () =>
    [...document.querySelectorAll<HTMLElement>("[data-notice]")].map((card) => card.dataset.notice);
  const row = (id: string) => document.querySelector(`[data-notice="${id}"]`)?.closest("li");
  const box = () => {
    const element = screen.getByRole("list", { name: "Waiting for you" }).parentElement;
    if (!element) throw new Error("the list is in nothing that scrolls");
    return element;
  };
  const scrollTo = (top: number) => {
    box().scrollTop = top;
    fireEvent.scroll(box());
  };
  const press = (key: string) => fireEvent.keyDown(document.body, { key });

  it("G1 draws few of them, and says how many there are", async () => {
    await openMany();
    expect(ids().length).toBeGreaterThan(3);
    expect(ids().length).toBeLessThan(200);
    expect(row("n0")?.getAttribute("aria-setsize")).toBe("1000");
    expect(row("n2")?.getAttribute("aria-posinset")).toBe("3");
    scrollTo(40_000);
    expect(ids()).not.toContain("n1");
    expect(ids().length).toBeLessThan(200);
    expect(Number(row(ids().at(-1) ?? "")?.getAttribute("aria-posinset"))).toBeGreaterThan(200);
  });

  it("G1 scrolls to the one that keys have marked", async () => {
    await openMany();
    const hasMore = () => !ids().includes("n60");
    expect(hasMore()).toBe(true);
    for (let at = 0; at < 60; at += 1) press("j");
    expect(row("n60")?.querySelector("[data-cursor]")).not.toBeNull();
    expect(box().scrollTop).toBeGreaterThan(0);
    // A browser tells of it by itself.
    fireEvent.scroll(box());
    expect(ids()).toEqual(expect.arrayContaining(["n59", "n60", "n61"]));
    expect(ids()).not.toContain("n0");
    expect(ids().length).toBeLessThan(200);
  });

  it("G1 keys are about the one that is marked, also when it was scrolled away", async () => {
    await openMany();
    press("j");
    scrollTo(40_000);
    expect(ids()).toContain("n1");
    press("y");
    expect(focusedCard()).toBe("n1");
    press("j");
    expect(box().scrollTop).toBeLessThan(1_000);
  });

  it("what somebody writes in stays, wherever the list is scrolled to", async () => {
    await openMany();
    const field = row("n3")?.querySelector("textarea");
    act(() => field?.focus());
    scrollTo(40_000);
    expect(field?.isConnected).toBe(true);
    expect(document.activeElement).toBe(field);
  });

  it("C9 the address of one far down leads to its answer box", async () => {
    await openMany("?notice=n800");
    await expect.poll(focusedCard).toBe("n800");
    expect(box().scrollTop).toBeGreaterThan(10_000);
  });
});

describe("y and n are about the card that is seen", () => {
  const yesNo = (id: string) => question(id, { choices: ["yes", "no"] });
  let items: ReturnType<typeof question>[];
  let told: string[];
  const client = newQueryClient();

  function Keyed() {
    useKeys();
    return <Page rest={[]} />;
  }

  beforeEach(async () => {
    client.clear();
    items = [yesNo("n1"), yesNo("n2")];
    told = [];
    const answered = (id: string) => {
      told.push(id);
      items = items.filter((one) => one.id !== id);
      return ok(yesNo(id));
    };
    fakeServer({
      "GET /api/v1/inbox?limit=100": () => ok({ items, pagination: { hasMore: false } }),
      ...Object.fromEntries(
        ["n0", "n1", "n2"].map((id) => [`POST /api/v1/inbox/${id}/answer`, () => answered(id)]),
      ),
    });
    window.history.replaceState(null, "", "/dashboard/inbox");
    renderPart(
      <QueryClientProvider client={client}>
        <Keyed />
      </QueryClientProvider>,
    );
    await screen.findByText("Of n1?");
  });

  const press = (key: string) => fireEvent.keyDown(document.body, { key });
  const cards = () =>
    [...document.querySelectorAll<HTMLElement>("[data-notice]")].map((card) => card.dataset.notice);
  const at = () => document.querySelector<HTMLElement>("[data-cursor]")?.dataset.notice;
  const arrives = async () => {
    items = [yesNo("n0"), ...items];
    await act(() => client.invalidateQueries({ queryKey: ["inbox"] }));
  };

  it("one that comes takes no other's place", async () => {
    expect(at()).toBe("n1");
    await arrives();
    await waitFor(() => expect(cards()).toEqual(["n0", "n1", "n2"]));
    expect(at()).toBe("n1");
    press("y");
    await waitFor(() => expect(told).toEqual(["n1"]));
    expect(at()).toBe("n2");
  });

  it("one that comes waits while the keys have chosen, and is let in again", async () => {
    press("j");
    expect(at()).toBe("n2");
    await arrives();
    const fresh = await screen.findByRole("button", { name: "1 new notice" });
    expect(cards()).toEqual(["n1", "n2"]);
    fireEvent.click(fresh);
    expect(cards()).toEqual(["n0", "n1", "n2"]);
    expect(at()).toBe("n2");
    press("y");
    await waitFor(() => expect(told).toEqual(["n2"]));
    expect(at()).toBe("n1");
  });

  it("Esc lets in what waits", async () => {
    press("j");
    await arrives();
    await screen.findByRole("button", { name: "1 new notice" });
    press("Escape");
    expect(cards()).toEqual(["n0", "n1", "n2"]);
    expect(at()).toBe("n1");
  });

  it("what comes next was seen before, and is no gate", () => {
    const [a, b, c] = ["a", "b", "c"].map((id) => yesNo(id) as Notice) as [Notice, Notice, Notice];
    const gate = { ...b, kind: "approval" } as Notice;
    expect(nextChosen([a, b], "a", [c, b])).toBe(b);
    expect(nextChosen([a, b], "b", [c, a])).toBe(a);
    expect(nextChosen([a, gate], "a", [c, gate])).toBeUndefined();
    expect(nextChosen([a], "a", [c])).toBe(c);
    expect(nextChosen([gate, a], undefined, [gate, a])).toBeUndefined();
  });
});
