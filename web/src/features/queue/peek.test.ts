import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { peekAt, usePeek } from "./peek";

const shown = () => {
  const { result } = renderHook(usePeek);
  return () => result.current && `${result.current.kind} ${result.current.id}`;
};

beforeEach(() => window.history.replaceState(null, "", "/dashboard/queue?tab=workflows"));

describe("the panel beside the lists of the queue", () => {
  it("shows what was asked for last, whatever was open", () => {
    const now = shown();
    expect(now()).toBeUndefined();
    for (const kind of ["task", "worker", "run", "workflow", "run", "task"] as const) {
      act(() => peekAt(kind, "x1"));
      expect(now()).toBe(`${kind} x1`);
      expect(window.location.search).toBe(`?tab=workflows&${kind}=x1`);
    }
  });

  it("shows a run again when its task is closed", () => {
    const { result } = renderHook(usePeek);
    act(() => peekAt("run", "r1"));
    act(() => peekAt("task", "t1", { over: "run" }));
    expect(result.current).toMatchObject({ kind: "task", id: "t1" });
    act(() => result.current?.close());
    expect(result.current).toMatchObject({ kind: "run", id: "r1" });
    act(() => result.current?.close());
    expect(result.current).toBeUndefined();
  });

  it("forgets the run below when another thing is asked for", () => {
    const { result } = renderHook(usePeek);
    act(() => peekAt("run", "r1"));
    act(() => peekAt("task", "t1", { over: "run" }));
    act(() => peekAt("workflow", "release", { also: { tab: undefined } }));
    expect(window.location.search).toBe("?workflow=release");
    expect(result.current).toMatchObject({ kind: "workflow", id: "release" });
  });
});
