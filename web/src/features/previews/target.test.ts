import { describe, expect, it } from "vitest";
import { fakePreview } from "./fakePreview";
import {
  isLoopback,
  lastLine,
  ofAgent,
  ofBead,
  plainText,
  shownOf,
  startCli,
  tunnelOf,
} from "./target";

const AGENT = ofAgent({ id: "a1", label: "worker-1" });
const BEAD = ofBead({ id: "app-4k2hm", projectId: "p1" });

describe("the preview of an agent or a bead", () => {
  it("is the one that runs, else the last one", () => {
    const running = fakePreview({ id: "v1" });
    const newer = fakePreview({ id: "v2", state: "ended" });
    const older = fakePreview({ id: "v0", state: "ended" });
    expect(shownOf([newer, running, older], AGENT)?.id).toBe("v1");
    expect(shownOf([newer, older], BEAD)?.id).toBe("v2");
    expect(shownOf([], BEAD)).toBeUndefined();
  });

  it("is not that of another agent, another bead or another project", () => {
    expect(shownOf([fakePreview({ agentId: "a2" })], AGENT)).toBeUndefined();
    expect(shownOf([fakePreview({ bead: "app-9" })], BEAD)).toBeUndefined();
    expect(shownOf([fakePreview({ project: "p2" })], BEAD)).toBeUndefined();
    expect(shownOf([fakePreview({ project: "p2" })], ofBead({ id: "app-4k2hm" }))?.id).toBe("v1");
  });

  it("is not that of an attempt, which has its own", () => {
    const bead = { id: "app-4k2hm" };
    expect(shownOf([fakePreview()], ofBead(bead, ["a1"]))).toBeUndefined();
    expect(shownOf([fakePreview({ agentId: null })], ofBead(bead, ["a1"]))?.id).toBe("v1");
  });

  it("has a command that a shell takes as one word", () => {
    expect(startCli(AGENT, " ")).toBe("godel preview start worker-1");
    expect(startCli(BEAD, "npm run dev -- --port $PORT")).toBe(
      "godel preview start app-4k2hm -- 'npm run dev -- --port $PORT'",
    );
  });
});

describe("where it is", () => {
  it.each(["localhost", "127.0.0.1", "127.8.0.1", "[::1]", "app.localhost"])(
    "%s is the machine of the server",
    (name) => expect(isLoopback(name)).toBe(true),
  );

  it.each(["godel.example", "10.0.0.4", "localhost.example", "127.0.0.1.example"])(
    "%s is another one",
    (name) => expect(isLoopback(name)).toBe(false),
  );

  it("is reached by a tunnel from elsewhere", () => {
    expect(tunnelOf({ port: 43_127 }, "godel.example")).toBe(
      "ssh -L 43127:127.0.0.1:43127 godel.example",
    );
    expect(tunnelOf({ port: 8_080 }, "[fe80::1]")).toBe("ssh -L 8080:127.0.0.1:8080 fe80::1");
  });
});

describe("what it printed", () => {
  const OUTPUT = "\u001b[32m  VITE\u001b[39m ready\r\n\u001b[2K10 %\r20 %\r\n\n";

  it("is lines without what is meant for a terminal", () => {
    expect(plainText(OUTPUT)).toBe("  VITE ready\n10 %\n20 %");
  });

  it("ends with a line that says something", () => {
    expect(lastLine(OUTPUT)).toBe("20 %");
    expect(lastLine("")).toBe("");
  });
});
