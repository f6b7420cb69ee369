import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../tests/renderPart";
import { ColumnHead } from "./ColumnHead";

const sum = (count: number) => ({ count, costMicros: 40_000, oldest: undefined });

function show(count: number, limit: number | undefined, total = count) {
  const onLimit = vi.fn();
  const { container, unmount } = renderPart(
    <ColumnHead
      status="in-progress"
      sum={sum(count)}
      total={total}
      limit={limit}
      onLimit={onLimit}
    />,
  );
  const head = container.querySelector("[data-column]");
  const icon = head?.querySelector("svg path")?.getAttribute("d");
  return { look: head?.className, icon, text: head?.textContent, onLimit, unmount };
}

it("C1 a column over its limit has another colour, another sign, and says so", () => {
  const within = show(2, 2);
  within.unmount();
  const over = show(3, 2);
  expect(over.text).toContain("3 of 2, over the limit");
  expect(over.look).not.toBe(within.look);
  expect(over.look).toContain("over");
  expect(over.icon, "never by colour alone").not.toBe(within.icon);
  expect(within.text).toContain("2 of 2");
  expect(within.text).not.toContain("over the limit");
});

it("C1 a filter hides cards, and not that they are too many", () => {
  const { text, look } = show(1, 2, 3);
  expect(text).toContain("1 shown, 3 of 2, over the limit");
  expect(look).toContain("over");
});

it("C1 the head tells what its beads cost and since when the oldest is there", () => {
  renderPart(
    <ColumnHead
      status="open"
      sum={{ count: 2, costMicros: 1_340_000, oldest: "2026-11-01T10:00:00Z" }}
      total={2}
      limit={undefined}
      onLimit={() => undefined}
    />,
  );
  expect(screen.getByTitle("What its beads cost").textContent).toBe("$1.34");
  const oldest = screen.getByTitle("The oldest card").querySelector("time");
  expect(oldest?.getAttribute("datetime")).toBe("2026-11-01T10:00:00Z");
});

it("C1 without a limit nothing is too much", () => {
  const { text, look } = show(500, undefined);
  expect(text).toContain("500");
  expect(text).not.toContain("over the limit");
  expect(look).not.toContain("over");
});

it("C12 how many are at work is held by the server, whatever it is, and can be set on the command line", () => {
  const held = {
    most: 7,
    set: vi.fn(),
    cli: (most: number | undefined) => `godel project update app --max-agents ${most ?? "none"}`,
    meaning: "Agents at work in app",
  };
  const onLimit = vi.fn();
  renderPart(
    <ColumnHead
      status="in-progress"
      sum={sum(8)}
      total={8}
      limit={2}
      onLimit={onLimit}
      held={held}
    />,
  );
  expect(screen.getByTitle("Agents at work in app").textContent).toContain(
    "8 of 7, over the limit",
  );
  fireEvent.click(screen.getByRole("button", { name: "Limit of In progress" }));
  expect(screen.getByRole("menuitemradio", { name: /^At most 7/, checked: true })).toBeTruthy();
  screen.getByText("godel project update app --max-agents none");
  fireEvent.click(screen.getByRole("menuitemradio", { name: /^At most 2 ?godel/ }));
  expect(held.set).toHaveBeenCalledWith(2);
  expect(onLimit).not.toHaveBeenCalled();
});

it("C12 a limit is set and taken away in the menu of the column", () => {
  const { onLimit } = show(3, 2);
  const choose = (name: string) => {
    fireEvent.click(screen.getByRole("button", { name: "Limit of In progress" }));
    fireEvent.click(screen.getByRole("menuitemradio", { name }));
  };
  choose("At most 3");
  choose("No limit");
  expect(onLimit.mock.calls).toEqual([[3], [undefined]]);
});
