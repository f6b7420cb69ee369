import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { ShortId } from "./ShortId";

const LONG = "payments-frontend-migration-a3f8e9";

describe("an id", () => {
  it("G13 is copied as a whole, however little of it is shown", async () => {
    const user = userEvent.setup();
    render(<ShortId id={LONG} />);
    const button = screen.getByRole("button", { name: "payments-f…n-a3f8e9" });
    await user.click(button);
    expect(await navigator.clipboard.readText()).toBe(LONG);
    expect(button.textContent).toBe("Copied");
  });

  it("G13 keeps its end where there is no room for all of it", () => {
    render(<ShortId id={LONG} isWhole />);
    const button = screen.getByRole("button", { name: LONG });
    expect(button.title).toBe(`Copy ${LONG}`);
    expect([...button.children].map(({ textContent }) => textContent)).toEqual([
      "payments-frontend-migration",
      "-a3f8e9",
    ]);
  });
});
