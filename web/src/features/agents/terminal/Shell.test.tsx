import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { LiveProvider } from "../../../realtime/live";
import { SessionProvider } from "../../../roles/session";
import { Shell } from "./Shell";

/** The server's end of a socket. */
class Wire {
  static all: Wire[] = [];
  static get shells(): Wire[] {
    return Wire.all.filter(({ url }) => url.includes("/attach?"));
  }
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: object) => void) | null = null;
  readonly sent: unknown[] = [];
  readonly url: string;
  constructor(url: string) {
    this.url = url;
    Wire.all.push(this);
  }
  send(data: string | Uint8Array): void {
    this.sent.push(typeof data === "string" ? JSON.parse(data) : new TextDecoder().decode(data));
  }
  close(): void {}
  hello(holder: object | null): void {
    const told = { type: "hello", seat: "me", terminal: "t1", offset: 0, mayControl: true, holder };
    this.onmessage?.({ data: JSON.stringify(told) });
  }
  show(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const frame = new Uint8Array(8 + bytes.length);
    frame.set(bytes, 8);
    this.onmessage?.({ data: frame.buffer });
  }
}

beforeEach(() => {
  Wire.all = [];
  vi.stubGlobal("WebSocket", Wire);
});

function open(session = SESSION): void {
  fakeServer({
    "GET /api/v1/agents/a1": () => ok(fakeAgent()),
    "GET /auth/me": () => refuse(401, "unauthorized", "no"),
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <SessionProvider value={session}>
        <LiveProvider>
          <Shell agent={fakeAgent()} tools={null} />
        </LiveProvider>
      </SessionProvider>
    </QueryClientProvider>,
  );
}

describe("X4 the shell of an agent", () => {
  it("is looked at, led after a click, and typed into", async () => {
    open();
    const [wire] = Wire.shells as [Wire];
    act(() => wire.hello(null));
    await screen.findByText("Nobody has control, you watch");
    act(() => wire.show("$ <b>hi</b>"));
    await screen.findByText("$ <b>hi</b>");
    expect(screen.queryByLabelText("Type into the shell of worker-1")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Take control" }));
    expect(wire.sent.at(-1)).toEqual({ type: "take", force: false });
    act(() => {
      const holder = { seat: "me", name: "owner" };
      wire.onmessage?.({ data: JSON.stringify({ type: "control", holder }) });
    });
    const field = await screen.findByLabelText("Type into the shell of worker-1");
    expect(document.activeElement).toBe(field);
    fireEvent.input(field, { target: { value: "ls" } });
    fireEvent.keyDown(field, { key: "Enter" });
    fireEvent.keyDown(field, { key: "c", ctrlKey: true });
    expect(wire.sent.slice(-3)).toEqual(["ls", "\r", "\x03"]);
    fireEvent.click(screen.getByRole("button", { name: "Release control" }));
    expect(wire.sent.at(-1)).toEqual({ type: "release" });
  });

  it("is not there before somebody opens it, and says so", async () => {
    open();
    act(() => Wire.shells[0]?.onclose?.({ code: 1006, reason: "" }));
    await screen.findByText("Nobody has opened a shell at worker-1.");
    fireEvent.click(screen.getByRole("button", { name: "Open a shell" }));
    expect(Wire.shells.length).toBe(2);
    expect(Wire.shells[1]?.url).not.toContain("watch");
  });

  it("G14 is for looking only to who may not lead agents", async () => {
    open({ ...SESSION, role: "viewer", permissions: ["agent:read:team"] });
    act(() => Wire.shells[0]?.hello({ seat: "x", name: "ann" }));
    await screen.findByText("ann has control, you watch");
    const take = screen.getByRole("button", { name: "Take control" });
    expect(take.getAttribute("aria-disabled")).toBe("true");
    fireEvent.click(take);
    expect(Wire.shells[0]?.sent).toEqual([]);
  });

  it("G14 is for looking only to who may not lead this agent, also if the address wants more", async () => {
    window.history.replaceState(null, "", "/dashboard/agents/a1?tab=terminal&show=shell&take=1");
    open(DEVELOPER);
    act(() => Wire.shells[0]?.onclose?.({ code: 1006, reason: "" }));
    await screen.findByText("Nobody has opened a shell at worker-1.");
    screen.getByText(/^worker-1 is not yours: .*agent:execute:team\.$/);
    fireEvent.click(screen.getByRole("button", { name: "Open a shell" }));
    expect(Wire.shells.length).toBe(1);
    expect(window.location.search).not.toContain("take");
  });
});
