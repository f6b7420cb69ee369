import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { SESSION } from "../../tests/fakeServer";
import { Guarded } from "./Guarded";
import { SessionProvider } from "./session";

describe("a guarded button", () => {
  const show = (role: string, permissions: string[]) => {
    const onClick = vi.fn();
    render(
      <SessionProvider value={{ ...SESSION, role, permissions }}>
        <Guarded can="agent:execute:team" cli="godel agent pause a" onClick={onClick}>
          Pause
        </Guarded>
      </SessionProvider>,
    );
    const button = screen.getByRole("button", { name: "Pause" });
    fireEvent.click(button);
    const hint = document.getElementById(button.getAttribute("aria-describedby") ?? "");
    return { onClick, isDisabled: button.getAttribute("aria-disabled"), hint: hint?.textContent };
  };

  it("G14 is there for who may not press it, and says why", () => {
    const { onClick, isDisabled, hint } = show("viewer", ["agent:read:team"]);
    expect(onClick).not.toHaveBeenCalled();
    expect(isDisabled).toBe("true");
    expect(hint).toBe("Your role viewer does not allow this; it needs agent:execute:team.");
  });

  it("G12 tells who may press it the same on the command line", () => {
    const { onClick, isDisabled, hint } = show("operator", ["agent:*:team"]);
    expect(onClick).toHaveBeenCalledTimes(1);
    expect(isDisabled).toBeNull();
    expect(hint).toBe("godel agent pause a");
  });
});
