import { fireEvent, render } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { RunStep } from "../../../api/types";
import type { Layout } from "./layout";
import { MiniMap } from "./MiniMap";

const LAYOUT = {
  width: 1_800,
  height: 600,
  nodes: [
    { id: "a", x: 0, y: 0 },
    { id: "b", x: 900, y: 300 },
  ],
  edges: [],
} as unknown as Layout;
const STEPS = [
  { id: "a", state: "succeeded" },
  { id: "b", state: "failed" },
] as RunStep[];
const SIGHT = { left: 200, top: 100, width: 600, height: 300 };

function show(view: typeof SIGHT, layout = LAYOUT) {
  const onGo = vi.fn();
  const { container } = render(<MiniMap layout={layout} view={view} steps={STEPS} onGo={onGo} />);
  return { map: container.querySelector("[data-minimap]"), onGo };
}

describe("X2 the map of a graph", () => {
  it("has each step, and what is in sight", () => {
    const { map } = show(SIGHT);
    const boxes = [...(map?.querySelectorAll("rect") ?? [])];
    expect(boxes).toHaveLength(LAYOUT.nodes.length + 1);
    const sight = boxes.at(-1);
    const told = ["x", "y", "width", "height"].map((name) => Number(sight?.getAttribute(name)));
    expect(told).toEqual([200, 100, 600, 300]);
    expect(new Set(boxes.slice(0, -1).map((box) => box.getAttribute("class"))).size).toBe(2);
  });

  it("is not there where all fits, or nothing is", () => {
    expect(show({ left: 0, top: 0, width: 1_800, height: 600 }).map).toBeNull();
    expect(show(SIGHT, { ...LAYOUT, nodes: [] }).map).toBeNull();
  });

  it("goes where the pointer presses, and nowhere where it only passes", () => {
    const { map, onGo } = show(SIGHT);
    if (!map) throw new Error("there is no map");
    // A tenth of the picture.
    fireEvent.pointerMove(map, { clientX: 90, clientY: 30, buttons: 0 });
    expect(onGo).not.toHaveBeenCalled();
    fireEvent.pointerDown(map, { clientX: 90, clientY: 30, buttons: 1 });
    fireEvent.pointerMove(map, { clientX: 18, clientY: 6, buttons: 1 });
    expect(onGo.mock.calls.map((at) => at.map(Math.round))).toEqual([
      [900, 300],
      [180, 60],
    ]);
  });

  it("is for a pointer alone: keys and readers have the cards", () => {
    expect(show(SIGHT).map?.getAttribute("aria-hidden")).toBe("true");
  });
});
