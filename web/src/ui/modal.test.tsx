import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { Dialog } from "./Dialog";
import { Drawer } from "./Drawer";

const PARTS = { dialog: Dialog, drawer: Drawer } as const;

function Page({ kind, hasField }: { kind: keyof typeof PARTS; hasField: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const Part = PARTS[kind];
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      <button type="button">Another</button>
      {isOpen && (
        <Part title="Question" onClose={() => setOpen(false)}>
          {hasField && <input aria-label="Name" />}
          <button type="button" onClick={() => setOpen(false)}>
            Done
          </button>
        </Part>
      )}
    </>
  );
}

const press = (name: string) => {
  const button = screen.getByRole("button", { name, hidden: true });
  button.focus();
  fireEvent.click(button);
};
const focused = () => document.activeElement;

it.each(["dialog", "drawer"] as const)(
  "G18 the focus goes into a %s, and back when it goes",
  (kind) => {
    render(<Page kind={kind} hasField />);
    press("Open");
    expect(focused(), "what it was opened for").toBe(screen.getByLabelText("Name"));
    press("Done");
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(focused()).toBe(screen.getByRole("button", { name: "Open" }));
  },
);

it("G18 who moved the focus elsewhere before a dialog went keeps it there", () => {
  render(<Page kind="dialog" hasField={false} />);
  press("Open");
  const another = screen.getByRole("button", { name: "Another", hidden: true });
  const done = screen.getByRole("button", { name: "Done", hidden: true });
  another.focus();
  fireEvent.click(done);
  expect(focused()).toBe(another);
});
