import { QueryClient } from "@tanstack/react-query";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { GodelEvent } from "../../api/types";
import { asText, isOfLevel, isWorthTelling, tell } from "./lines";
import { type Log, linesBefore, loadOlder, logQuery, RING, withEvents } from "./log";

const line = (type: string, payload = {}) => ({
  seq: 1,
  at: "2026-11-15T10:00:00Z",
  type,
  payload,
});

describe("lines of a log", () => {
  it("say what a tool was called with", () => {
    const call = line("agent:tool:call", { name: "shell", input: '{"command":"ls -l"}' });
    expect(asText(call)).toBe("shell: ls -l");
    expect(asText(line("agent:tool:call", { name: "x", input: "no json" }))).toBe("x: no json");
  });

  it("mark what failed", () => {
    expect(tell(line("agent:tool:result", { failed: true, text: "no" })).tone).toBe("bad");
    expect(tell(line("agent:tool:result", { failed: false, text: "ok" })).tone).toBe("plain");
  });

  it("are shown even if nobody has described them", () => {
    expect(asText(line("agent:sandbox:spawn", { profile: "workspace" }))).toBe(
      "Sandbox spawn: profile workspace",
    );
    expect(isWorthTelling(line("agent:usage"))).toBe(false);
  });

  it("X4 are problems, talk or tools", () => {
    const failed = line("agent:tool:result", { failed: true, text: "no" });
    expect(isOfLevel(failed, "problem")).toBe(true);
    expect(isOfLevel(failed, "tool")).toBe(true);
    expect(isOfLevel(failed, "talk")).toBe(false);
    expect(isOfLevel(line("agent:text", { text: "hi" }), "talk")).toBe(true);
    expect(isOfLevel(line("agent:commit"), "problem")).toBe(false);
    expect(isOfLevel(line("agent:commit"), "")).toBe(true);
  });
});

describe("a log", () => {
  const log: Log = { lines: [line("agent:spawn")], next: 5 };
  const event = (sequence: number) =>
    ({ sequence, timestamp: "", type: "agent:text", payload: {} }) as unknown as GodelEvent;

  it("takes each event once, in order", () => {
    const once = withEvents(log, [event(5), event(6), event(7)]);
    expect(once.lines.map(({ seq }) => seq)).toEqual([1, 6, 7]);
    expect(withEvents(once, [event(6), event(7)])).toBe(once);
  });
});

describe("X4 a long log", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is read from its end, and older lines when somebody wants them, each once", async () => {
    const all = Array.from({ length: 3_050 }, (_, at) => at + 1);
    vi.stubGlobal("fetch", async (path: string) => {
      const { pathname, searchParams } = new URL(path, "http://host");
      expect(pathname).toBe("/api/v1/agents/a1/logs");
      const limit = Number(searchParams.get("limit"));
      const end = Math.min(all.length, Number(searchParams.get("before")) - 1);
      const begin = Math.max(0, end - limit);
      const items = all.slice(begin, end).map((seq) => ({ ...line("agent:text"), seq }));
      const previous = begin > 0 ? begin + 1 : null;
      return Response.json({ success: true, data: { items, next: end, previous } });
    });
    const client = new QueryClient();
    const log = await client.fetchQuery(logQuery("a1"));
    expect(log.lines.map(({ seq }) => seq)).toEqual(all.slice(-2_000));
    expect(log.next).toBe(3_050);
    const now = () => client.getQueryData<Log>(logQuery("a1").queryKey);
    await Promise.all([loadOlder(client, "a1"), loadOlder(client, "a1")]);
    expect(now()?.lines.map(({ seq }) => seq)).toEqual(all.slice(-3_000));
    const seen: number[] = [];
    const before = await linesBefore("a1", log.older, (many) => seen.push(many));
    expect(before.map(({ seq }) => seq)).toEqual(all.slice(0, 1_050));
    expect(seen).toEqual([500, 1_000, 1_050]);
    expect(await linesBefore("a1", undefined, () => {})).toEqual([]);
    await loadOlder(client, "a1");
    expect(now()?.lines.map(({ seq }) => seq)).toEqual(all);
    expect(now()?.older).toBeUndefined();
  });

  it("keeps a ring of lines: the oldest go, and can be read again", () => {
    const lines = Array.from({ length: RING }, (_, at) => ({ ...line("agent:text"), seq: at + 1 }));
    const event = { sequence: RING + 1, timestamp: "", type: "agent:text", payload: {} };
    const log = withEvents({ lines, next: RING }, [event as unknown as GodelEvent]);
    expect([log.lines.length, log.lines[0]?.seq, log.older]).toEqual([RING, 2, 2]);
  });
});
