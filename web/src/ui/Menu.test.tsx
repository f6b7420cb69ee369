import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { Menu } from "./Menu";

describe("a menu", () => {
  it("makes its lines when it is opened, not before", () => {
    const items = vi.fn(() => []);
    render(<Menu label="Do something" items={items} />);
    expect(items).not.toHaveBeenCalled();
    fireEvent.click(screen.getByRole("button", { name: "Do something" }));
    expect(items).toHaveBeenCalled();
    expect(screen.getByRole("menu", { name: "Do something" })).toBeTruthy();
  });
});
