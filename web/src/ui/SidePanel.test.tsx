import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { boundActions } from "../actions/actions";
import { SidePanel } from "./Drawer";

const page = (
  <div>
    <section aria-label="List">
      <button type="button">Row</button>
    </section>
    <SidePanel label="One row" head="Row" onClose={() => undefined}>
      <p>All about it</p>
    </SidePanel>
  </div>
);
const run = (id: string) =>
  act(() =>
    boundActions()
      .find(({ spec }) => spec.id === id)
      ?.run(),
  );
const border = () => screen.getByRole("separator", { name: "Width of the panel" });
const width = () => Number(border().getAttribute("aria-valuenow"));

beforeEach(() => localStorage.clear());

it("G16 `[` goes to the list, and `]` to the panel beside it", () => {
  render(page);
  run("page.pane-after");
  expect(document.activeElement).toBe(screen.getByRole("complementary", { name: "One row" }));
  run("page.pane-before");
  expect(document.activeElement).toBe(screen.getByRole("region", { name: "List" }));
});

it("G16 the border of a panel is moved by keys, within limits, and remembered", () => {
  const { unmount } = render(page);
  expect(width()).toBe(420);
  fireEvent.keyDown(border(), { key: "ArrowLeft" });
  expect(width(), "it grows to the left").toBe(444);
  fireEvent.keyDown(border(), { key: "a" });
  unmount();
  render(page);
  expect(width()).toBe(444);
  const panel = screen.getByRole("complementary", { name: "One row" });
  expect(panel.style.getPropertyValue("--side-width")).toBe("444px");
  for (let times = 0; times < 20; times += 1) fireEvent.keyDown(border(), { key: "ArrowRight" });
  expect(width()).toBe(180);
});
