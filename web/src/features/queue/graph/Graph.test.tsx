import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { Run, RunStep } from "../../../api/types";
import { Graph } from "./Graph";
import { countsOf, rerunCli } from "./RunHead";
import type { Told } from "./told";

function step(id: string, dependsOn: string[], fields: Partial<RunStep> = {}): RunStep {
  return { id, kind: "task", dependsOn, state: "pending", round: 0, ...fields };
}

const STEPS = [step("a", []), step("b", ["a"]), step("c", ["a"]), step("d", ["b", "c"])];

function told(fields: Partial<Told> = {}): Told {
  return {
    run: {} as Run,
    steps: STEPS,
    way: ["a", "b", "d"],
    attempts: new Map([["b", 4]]),
    now: 0,
    chosen: undefined,
    onChoose: () => undefined,
    ...fields,
  };
}

const cards = () => screen.getAllByRole("button");
const places = () => cards().map((one) => one.parentElement?.style.cssText);

describe("the graph of a run", () => {
  it("X2 keeps every card where it is when steps change their state", () => {
    const { rerender } = render(<Graph {...told()} />);
    const before = places();
    const later = STEPS.map((one) => ({ ...one, state: "failed", round: 2, error: "exit code 2" }));
    rerender(<Graph {...told({ steps: later, way: ["a"] })} />);
    expect(places()).toEqual(before);
    expect(cards().map((one) => one.getAttribute("data-state"))).toEqual(Array(4).fill("failed"));
  });

  it("X2 is a list of all steps for who does not see it", () => {
    render(<Graph {...told()} />);
    expect(cards().map((one) => one.getAttribute("aria-label"))).toEqual([
      "a, pending, on the critical path",
      "b, pending, after a, 4 attempts, on the critical path",
      "c, pending, after a",
      "d, pending, after b, c, on the critical path",
    ]);
    expect(screen.getAllByRole("listitem")).toHaveLength(4);
  });

  it("X2 stacks earlier tries, three cards at most, and marks the edges of the critical path", () => {
    const { container } = render(<Graph {...told()} />);
    expect(cards()[1]?.getAttribute("data-stack")).toBe("3");
    expect(container.querySelectorAll("[data-edge]")).toHaveLength(4);
    expect(container.querySelectorAll("path[data-decisive]")).toHaveLength(2);
  });

  it("X2 tells which step was chosen", () => {
    const onChoose = vi.fn();
    render(<Graph {...told({ onChoose, chosen: "c" })} />);
    expect(cards()[2]?.getAttribute("aria-pressed")).toBe("true");
    fireEvent.click(cards()[3] as HTMLElement);
    expect(onChoose.mock.calls).toEqual([["d"]]);
  });

  it("X2 draws only what is in sight of a very long run", () => {
    const many = Array.from({ length: 2_000 }, (_, at) => step(`s${at}`, at ? [`s${at - 1}`] : []));
    render(<Graph {...told({ steps: many, way: [] })} />);
    expect(cards().length).toBeLessThan(100);
  });
});

describe("the head of a run", () => {
  const counts = {
    pending: 1,
    ready: 0,
    running: 1,
    waiting: 0,
    succeeded: 2,
    failed: 0,
    skipped: 1,
    cancelled: 0,
  };

  it("says how many steps are done", () => {
    expect(countsOf({ counts })).toBe("3 of 5 steps done, 1 running");
  });

  it("quotes for a shell what others wrote", () => {
    const inputs = { branch: "next", text: "it's; rm -rf /", many: [1, 2] };
    expect(rerunCli({ name: "release", inputs })).toBe(
      "godel workflow run release --input branch=next --input 'text=it'\\''s; rm -rf /' --input 'many:=[1,2]'",
    );
  });
});
