import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { Boundary } from "./Boundary";
import { useDraft } from "./useDraft";

let isBroken = false;

function Form() {
  const [text, setText] = useDraft("thought");
  if (isBroken) throw new Error("it broke");
  return (
    <input aria-label="Thought" value={text} onChange={(event) => setText(event.target.value)} />
  );
}

const page = () => (
  <>
    <p>The rest of the page</p>
    <Boundary what="The form">
      <Form />
    </Boundary>
  </>
);

beforeEach(() => {
  isBroken = false;
  sessionStorage.clear();
  // React tells of every error that a boundary takes.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

it("G9 a part that crashes takes nothing else with it, and what was written in it is there after Retry", () => {
  const { rerender } = render(page());
  const field = () => screen.getByLabelText<HTMLInputElement>("Thought");
  fireEvent.change(field(), { target: { value: "half a thought" } });
  isBroken = true;
  rerender(page());
  screen.getByText("The rest of the page");
  const alert = screen.getByRole("alert");
  expect(alert.textContent).toContain(
    "The form could not be shown; what you have written is kept.",
  );
  expect(alert.textContent).toContain("It broke.");
  isBroken = false;
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(field().value).toBe("half a thought");
});
