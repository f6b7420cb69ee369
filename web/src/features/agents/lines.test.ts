import { describe, expect, it } from "vitest";
import type { GodelEvent } from "../../api/types";
import { asText, isWorthTelling, tell } from "./lines";
import { type Log, withEvents } from "./log";

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
});

describe("a log", () => {
  const log: Log = { lines: [line("agent:spawn")], next: 5, isCut: false };
  const event = (sequence: number) =>
    ({ sequence, timestamp: "", type: "agent:text", payload: {} }) as unknown as GodelEvent;

  it("takes each event once, in order", () => {
    const once = withEvents(log, [event(5), event(6), event(7)]);
    expect(once.lines.map(({ seq }) => seq)).toEqual([1, 6, 7]);
    expect(withEvents(once, [event(6), event(7)])).toBe(once);
  });
});
