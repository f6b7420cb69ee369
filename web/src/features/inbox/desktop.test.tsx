import { act } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { FakeWire, makeEvent } from "../../../tests/fakeWire";
import { renderPart } from "../../../tests/renderPart";
import type { GodelEvent } from "../../api/types";
import { LiveProvider } from "../../realtime/live";
import { noticeOf, useDesktopNotices } from "./desktop";

/** The desktop: a notice with a tag takes the place of the one before. */
class FakeNotification {
  static permission = "granted";
  static shown = new Map<string, FakeNotification>();
  onclick: (() => void) | null = null;
  readonly title: string;
  readonly body: string;

  constructor(title: string, { body, tag }: { body: string; tag: string }) {
    this.title = title;
    this.body = body;
    FakeNotification.shown.set(tag, this);
  }
}

const asks = (sequence: number, notice: string, text: string): GodelEvent => ({
  ...makeEvent(sequence, "agent:needs:person", { notice, kind: "question", text }),
  metadata: { actor: "agent:worker-1" },
});

function Listener() {
  useDesktopNotices();
  return null;
}

/** A page that is not looked at, with a live connection. */
async function page() {
  renderPart(
    <LiveProvider>
      <Listener />
    </LiveProvider>,
  );
  const wire = FakeWire.last;
  let subscription = "";
  await act(async () => {
    wire.open();
    subscription = wire.accept(0);
  });
  return (...events: GodelEvent[]) =>
    act(async () => {
      wire.receive({
        type: "events",
        payload: { events },
        metadata: { subscriptionId: subscription },
      });
      await new Promise((next) => requestAnimationFrame(next));
    });
}

const shown = () => [...FakeNotification.shown.values()].map(({ body }) => body);

beforeEach(() => {
  FakeWire.all = [];
  FakeNotification.shown = new Map();
  FakeNotification.permission = "granted";
  vi.stubGlobal("WebSocket", FakeWire);
  vi.stubGlobal("Notification", FakeNotification);
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  localStorage.setItem("godel.inbox.desktop", "true");
  window.history.replaceState(null, "", "/dashboard/costs");
});

it("G19 the desktop is told once per incident, however many events it has", async () => {
  const hear = await page();
  await hear(asks(1, "n1", "Which colour?"), makeEvent(2, "agent:text"));
  await hear(asks(3, "n1", "Which colour? It waits for 5 minutes."), asks(4, "n2", "May I?"));
  await expect.poll(shown).toEqual(["Which colour? It waits for 5 minutes.", "May I?"]);
});

it("C9 a click leads to the answer box of that notice", async () => {
  const hear = await page();
  await hear(asks(1, "n1", "Which colour?"));
  await expect.poll(shown).toHaveLength(1);
  FakeNotification.shown.get("n1")?.onclick?.();
  expect(`${window.location.pathname}${window.location.search}`).toBe("/dashboard/inbox?notice=n1");
});

it.each([
  ["who did not ask for it", () => localStorage.clear()],
  [
    "who did not allow it",
    () => {
      FakeNotification.permission = "denied";
    },
  ],
  ["who looks at the page", () => void vi.spyOn(document, "hasFocus").mockReturnValue(true)],
])("G19 nothing is told to %s", async (_, prepare) => {
  prepare();
  const hear = await page();
  await hear(asks(1, "n1", "Which colour?"));
  expect(shown()).toEqual([]);
});

it("C9 what has no notice of its own leads to the inbox", () => {
  const event = makeEvent(1, "budget:exceeded", { budget: "b", scope: "tenant" });
  expect(noticeOf(event)?.place).toBe("/inbox");
  expect(noticeOf(makeEvent(1, "agent:text"))).toBeUndefined();
});
