import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ANSWER_WITHIN_MS, AttachSocket, type AttachWire, PING_EVERY_MS } from "./attachSocket";

const ME = "seat-me";
const SHELL = "shell-1";

class Wire implements AttachWire {
  static all: Wire[] = [];
  static get last(): Wire {
    return Wire.all.at(-1) as Wire;
  }
  binaryType = "";
  onopen = null;
  onmessage: AttachWire["onmessage"] = null;
  onclose: AttachWire["onclose"] = null;
  readonly sent: (string | Uint8Array)[] = [];
  readonly ask: URLSearchParams;
  isClosed = false;

  constructor(url: string) {
    this.ask = new URL(url).searchParams;
    Wire.all.push(this);
  }
  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }
  close(): void {
    this.isClosed = true;
  }
  tell(told: object): void {
    this.onmessage?.({ data: JSON.stringify(told) });
  }
  hello(more: object = {}): void {
    const offset = Number(this.ask.get("offset") ?? 0);
    const base = { type: "hello", seat: ME, terminal: SHELL, offset };
    this.tell({ ...base, mayControl: true, holder: null, ...more });
  }
  /** Sends a part of everything the shell ever showed. */
  show(all: Uint8Array, from: number, to: number): void {
    const frame = new Uint8Array(8 + to - from);
    new DataView(frame.buffer).setBigUint64(0, BigInt(from));
    frame.set(all.subarray(from, to), 8);
    this.onmessage?.({ data: frame.buffer });
  }
  drop(code = 1006, reason = ""): void {
    this.onclose?.({ code, reason });
  }
}

function world({ why }: { why?: string } = {}) {
  const got: number[] = [];
  const dropped: number[] = [];
  const sizes: [number, number][] = [];
  let fresh = 0;
  const socket = new AttachSocket({
    url: "ws://host/attach",
    size: () => ({ columns: 100, rows: 30 }),
    onBytes: (bytes) => got.push(...bytes),
    onDropped: (count) => dropped.push(count),
    onSize: (columns, rows) => sizes.push([columns, rows]),
    onFresh: () => {
      fresh += 1;
    },
    onChange: () => undefined,
    whyRefused: async () => why,
    connect: (url) => new Wire(url),
    random: () => 0.5,
  });
  socket.start();
  const phase = () => socket.state.link.phase;
  return { socket, got, dropped, sizes, fresh: () => fresh, phase };
}

const numbers = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7 + 3) % 256);

beforeEach(() => {
  vi.useFakeTimers();
  Wire.all = [];
});
afterEach(() => vi.clearAllTimers());

describe("X4 a connection to a shell", () => {
  it("only looks at first, and takes control when asked", () => {
    const { socket } = world();
    expect(Wire.last.ask.toString()).toBe("terminal=true&explain=true&watch=true");
    Wire.last.hello({ holder: { seat: "other", name: "ann" } });
    socket.type(new Uint8Array([108, 115]));
    expect(Wire.last.sent).toEqual([]);
    expect(socket.state.holder?.name).toBe("ann");
    socket.take(true);
    expect(Wire.last.sent).toEqual(['{"type":"take","force":true}']);
    Wire.last.tell({ type: "control", holder: { seat: ME, name: "bob" } });
    expect(socket.state.hasControl).toBe(true);
    expect(Wire.last.sent.at(-1)).toBe('{"type":"resize","columns":100,"rows":30}');
    socket.type(new Uint8Array([108, 115]));
    expect(Wire.last.sent.at(-1)).toEqual(new Uint8Array([108, 115]));
    socket.release();
    Wire.last.tell({ type: "control", holder: null });
    expect(socket.state.hasControl).toBe(false);
  });

  it("loses no byte and shows none twice, wherever the connection breaks", () => {
    const all = numbers(50_000);
    const { socket, got, dropped } = world();
    let sent = 0;
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; sent < all.length; round += 1) {
      const wire = Wire.last;
      if (round > 0) expect(wire.ask.get("offset")).toBe(String(got.length));
      wire.hello();
      // The server may begin earlier than asked, and the last frames of a wire may be lost.
      sent = Math.max(0, got.length - random(50));
      for (let frame = 0; frame < 5 && sent < all.length; frame += 1) {
        const end = Math.min(all.length, sent + 1 + random(1_500));
        if (frame < 4 || round % 2 === 0) wire.show(all, sent, end);
        sent = end;
      }
      if (got.length === all.length) break;
      sent = got.length;
      wire.drop(round % 3 === 0 ? 4408 : 1006);
      vi.advanceTimersByTime(20_000);
    }
    expect(got.length).toBe(all.length);
    expect(Uint8Array.from(got)).toEqual(all);
    expect(dropped).toEqual([]);
    expect(socket.state.offset).toBe(all.length);
  });

  it("asks again for bytes that are missing, once, and then says so", () => {
    const all = numbers(30);
    const { got, dropped } = world();
    Wire.last.hello();
    Wire.last.show(all, 0, 10);
    Wire.last.show(all, 20, 30);
    expect(got.length).toBe(10);
    expect(Wire.all.length).toBe(2);
    expect(Wire.last.ask.get("offset")).toBe("10");
    expect(Wire.last.ask.get("terminalId")).toBe(SHELL);
    Wire.last.hello();
    Wire.last.show(all, 20, 30);
    expect(got.length).toBe(20);
    expect(dropped).toEqual([10]);
  });

  it("tells what the server no longer keeps", () => {
    const { got, dropped } = world();
    Wire.last.hello();
    Wire.last.tell({ type: "dropped", from: 0, to: 15 });
    Wire.last.show(numbers(30), 15, 30);
    expect(dropped).toEqual([15]);
    expect(got.length).toBe(15);
  });

  it("gets control back after a break, and only who had it does", () => {
    world();
    Wire.last.hello({ holder: { seat: ME, name: "bob" } });
    Wire.last.drop();
    vi.advanceTimersByTime(1_000);
    expect(Wire.last.ask.has("watch")).toBe(false);
    Wire.last.hello({ seat: "seat-again", holder: { seat: "seat-x", name: "ann" } });
    Wire.last.drop();
    vi.advanceTimersByTime(1_000);
    expect(Wire.last.ask.get("watch")).toBe("true");
  });

  it("learns how large the shell is, and when that changes", () => {
    const { sizes } = world();
    Wire.last.hello({ columns: 132, rows: 43 });
    Wire.last.tell({ type: "size", columns: 90, rows: 20 });
    expect(sizes).toEqual([
      [132, 43],
      [90, 20],
    ]);
  });

  it("tells the reason that the server gave for refusing it", () => {
    const { socket } = world();
    Wire.last.tell({ type: "refused", error: { message: "32 people look at worker-1 already" } });
    Wire.last.drop(4403, "32 people");
    expect(socket.state.link).toEqual({
      phase: "none",
      why: "32 people look at worker-1 already.",
    });
    expect(Wire.all).toHaveLength(1);
  });

  it("says that nobody opened a shell, and opens one when asked", async () => {
    const { socket, phase, fresh } = world({ why: "Nobody has opened a shell." });
    Wire.last.drop();
    await vi.advanceTimersByTimeAsync(0);
    expect(socket.state.link).toEqual({ phase: "none", why: "Nobody has opened a shell." });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Wire.all.length).toBe(1);
    socket.openShell();
    expect(Wire.last.ask.toString()).toBe("terminal=true&explain=true&columns=100&rows=30");
    Wire.last.hello({ holder: { seat: ME, name: "bob" } });
    expect(phase()).toBe("open");
    expect(fresh()).toBe(0);
  });

  it("goes on trying while the server does not answer", async () => {
    const { phase } = world();
    Wire.last.drop();
    await vi.advanceTimersByTimeAsync(0);
    expect(phase()).toBe("waiting");
    await vi.advanceTimersByTimeAsync(600);
    expect(Wire.all.length).toBe(2);
  });

  it("notices a connection that died without a word", () => {
    const { phase } = world();
    Wire.last.hello();
    vi.advanceTimersByTime(PING_EVERY_MS);
    expect(Wire.last.sent).toEqual(['{"type":"ping"}']);
    Wire.last.tell({ type: "pong" });
    vi.advanceTimersByTime(PING_EVERY_MS + ANSWER_WITHIN_MS);
    expect(Wire.all[0]?.isClosed).toBe(true);
    expect(phase()).toBe("waiting");
  });

  it("ends with the shell, and begins with a clean screen", () => {
    const { socket, fresh } = world();
    Wire.last.hello();
    Wire.last.show(numbers(5), 0, 5);
    Wire.last.tell({ type: "exit", code: 0 });
    expect(socket.state.link).toEqual({ phase: "over", why: "The shell has ended with code 0." });
    socket.openShell();
    Wire.last.hello({ terminal: "shell-2" });
    expect(fresh()).toBe(1);
    expect(socket.state.offset).toBe(0);
  });
});
