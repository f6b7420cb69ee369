import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { Agent, Letter } from "../../../api/types";
import { Toaster } from "../../../change/Toaster";
import { LetterDrawer } from "./LetterDrawer";

const AGENT = fakeAgent();
const letter = (id: string, more: Partial<Letter> = {}): Letter => ({
  id,
  from: "user:owner",
  to: "worker-1",
  text: `text of ${id}`,
  sentAt: "2026-11-15T10:00:00Z",
  read: true,
  ...more,
});
const page = (items: unknown[]) => ok({ items, pagination: { hasMore: false } });
const TO_AGENT = `GET /api/v1/mail?${new URLSearchParams({ limit: "100", filter: '{"agent":"worker-1"}' })}`;

const show = (agent?: Agent, session = SESSION) =>
  renderPart(
    <>
      <LetterDrawer agent={agent} onClose={() => undefined} />
      <Toaster />
    </>,
    session,
  );
const write = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const send = () => fireEvent.click(screen.getByRole("button", { name: "Send" }));

beforeEach(() => sessionStorage.clear());

describe("letters", () => {
  it("G12 to an agent are listed, and one is written", async () => {
    const all = [letter("l1", { read: false }), letter("l0", { from: "agent:worker-2" })];
    const calls = fakeServer({
      [TO_AGENT]: () => page(all),
      "POST /api/v1/mail": () => {
        all.unshift(letter("l2", { text: "stop it" }));
        return ok(all[0]);
      },
    });
    show(AGENT);
    await screen.findByText("text of l1");
    screen.getByText("worker-2");
    expect(screen.getAllByText("not read yet")).toHaveLength(1);
    write("Write to worker-1", "stop it");
    screen.getByText("godel mail send worker-1 'stop it'");
    send();
    await screen.findByText("Sent to worker-1");
    await screen.findByText("stop it", { selector: "li p" });
    expect(calls.find(({ method }) => method === "POST")?.body).toEqual({
      to: "worker-1",
      text: "stop it",
    });
    await expect
      .poll(() => screen.getByLabelText<HTMLTextAreaElement>("Write to worker-1").value)
      .toBe("");
  });

  it("one that is refused goes from the list, and its text stays in the form", async () => {
    fakeServer({
      [TO_AGENT]: () => page([]),
      "POST /api/v1/mail": () => refuse(409, "mail_refused", "200 letters wait already"),
    });
    show(AGENT);
    await screen.findByText("Nobody has written to worker-1 yet.");
    write("Write to worker-1", "hello");
    send();
    await screen.findByText("Not done: Write to worker-1");
    expect(screen.getByLabelText<HTMLTextAreaElement>("Write to worker-1").value).toBe("hello");
    await screen.findByText("Nobody has written to worker-1 yet.");
  });

  it("to the reader are answered to who wrote them", async () => {
    fakeServer({
      "GET /api/v1/mail?limit=100": () =>
        page([letter("l1", { from: "agent:worker-7", to: "user:owner", read: false })]),
      "GET /api/v1/agents?limit=1000": () => page([AGENT]),
      "GET /api/v1/users?limit=100": () => page([]),
    });
    show();
    fireEvent.click(await screen.findByRole("button", { name: "Answer worker-7" }));
    expect(screen.getByLabelText<HTMLInputElement>("To").value).toBe("worker-7");
    expect(screen.queryByText("not read yet")).toBeNull();
  });

  it("G14 who has ended reads none, and who may not lead agents writes none", async () => {
    fakeServer({ [TO_AGENT]: () => page([]) });
    const ended = show({ ...AGENT, status: "completed" });
    write("Write to worker-1", "hello");
    const isOff = () => screen.getByRole("button", { name: "Send" }).getAttribute("aria-disabled");
    expect(isOff()).toBe("true");
    screen.getByText("worker-1 has ended.");
    ended.unmount();
    show(AGENT, { ...SESSION, role: "viewer", permissions: ["agent:read:team"] });
    write("Write to worker-1", "hello");
    expect(isOff()).toBe("true");
  });

  it("G14 an agent of somebody else is not written to, by whatever name", async () => {
    fakeServer({
      "GET /api/v1/mail?limit=100": () => page([]),
      "GET /api/v1/agents?limit=1000": () =>
        page([AGENT, fakeAgent({ id: "a2", label: "worker-2", userId: DEVELOPER.userId })]),
    });
    show(undefined, DEVELOPER);
    await expect.poll(() => document.querySelectorAll("option").length).toBe(2);
    write("What it says", "hello");
    const isOff = () => screen.getByRole("button", { name: "Send" }).getAttribute("aria-disabled");
    for (const name of ["worker-1", "agent:worker-1", "a1"]) {
      write("To", name);
      expect(isOff(), name).toBe("true");
      screen.getByText(/^worker-1 is not yours: .*agent:execute:team\.$/);
    }
    for (const name of ["worker-2", "bob"]) {
      write("To", name);
      expect(isOff(), name).toBeNull();
    }
  });
});
