import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { Menu } from "../../ui/Menu";
import { DeferDialog } from "./DeferDialog";
import { dateFault, deferCli, isPutOff, morningIn, useDeferItems } from "./defer";
import { bead } from "./fakeBead";

const LATER = "2099-01-01T00:00:00Z";
const PATCH = (id: string) => `PATCH /api/v1/beads/${id}?projectId=p`;

function More({ defer, status = "open" }: { defer?: string; status?: string }) {
  const items = useDeferItems(() => undefined)(bead("a", { defer: defer ?? null, status }));
  return <Menu label="More" items={items} />;
}
const line = (name: RegExp) => screen.getByRole("menuitem", { name });

describe("a bead that is put off", () => {
  it("is so until its time has come", () => {
    const now = Date.parse("2026-11-18T10:00:00Z");
    expect(isPutOff({ defer: "2026-11-18T10:00:01Z" }, now)).toBe(true);
    expect(isPutOff({ defer: "2026-11-18T10:00:00Z" }, now)).toBe(false);
    expect(isPutOff({}, now)).toBe(false);
  });

  it("waits for a morning of the reader, or a time that is still to come", () => {
    const now = new Date(2026, 10, 30, 23, 59).getTime();
    expect(morningIn(1, now)).toBe(new Date(2026, 11, 1, 8).toISOString());
    expect(morningIn(7, now)).toBe(new Date(2026, 11, 7, 8).toISOString());
    expect(dateFault("", now)).toBeDefined();
    expect(dateFault("2026-11-30T23:59", now)).toBeDefined();
    expect(dateFault("2026-12-01T00:00", now)).toBeUndefined();
  });

  it("has its command", () => {
    const until = "2026-11-19T08:00:00.000Z";
    expect(deferCli([{ id: "a" }], until)).toBe("godel bead defer a --until 2026-11-19T08:00:00Z");
    expect(deferCli([{ id: "a" }, { id: "b" }], undefined)).toBe(
      "godel bead defer a --clear && godel bead defer b --clear",
    );
  });

  it("G12 is put off by days or by a date, with those that are not done, and back by Undo", async () => {
    const calls = fakeServer({ [PATCH("a")]: () => ok(bead("a", { defer: LATER })) });
    renderPart(
      <>
        <DeferDialog beads={[bead("a"), bead("b", { status: "done" })]} onClose={() => undefined} />
        <Toaster />
      </>,
    );
    const choice = screen.getByLabelText<HTMLSelectElement>("Until");
    expect([...choice.options].map(({ text }) => text.split(":")[0])).toEqual([
      "Tomorrow",
      "In 3 days",
      "In a week",
      "A date and time",
    ]);
    fireEvent.change(choice, { target: { value: "date" } });
    const send = () => screen.getByRole("button", { name: "Put off" });
    expect(send().getAttribute("aria-disabled")).toBe("true");
    const set = (value: string) =>
      fireEvent.change(screen.getByLabelText("Date and time"), { target: { value } });
    set("2020-01-01T08:00");
    screen.getByText("Choose a time that is still to come.", { selector: "[role=alert]" });
    set("2099-01-01T08:00");
    fireEvent.click(send());
    fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await expect.poll(() => calls.length).toBe(2);
    expect(calls.map(({ body }) => body)).toEqual([
      { defer: new Date("2099-01-01T08:00").toISOString() },
      { defer: "" },
    ]);
  });

  it("G12 is no longer put off by one line, and the server's reason is told", async () => {
    const calls = fakeServer({ [PATCH("a")]: () => refuse(409, "conflict", "it is held") });
    renderPart(
      <>
        <More defer={LATER} />
        <Toaster />
      </>,
    );
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    fireEvent.click(line(/^No longer put off/));
    await screen.findByText(/^Not done: Change the time to begin/);
    expect(calls[0]?.body).toEqual({ defer: "" });
  });

  it("G14 says why it cannot be", () => {
    fakeServer({});
    const done = renderPart(<More status="done" />);
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    expect(line(/^Put off/).textContent).toContain("It is done.");
    expect(line(/^No longer put off/).textContent).toContain("It is not put off.");
    done.unmount();
    renderPart(<More />, { ...SESSION, role: "viewer", permissions: ["bead:read:team"] });
    fireEvent.click(screen.getByRole("button", { name: "More" }));
    expect(line(/^Put off/).getAttribute("aria-disabled")).toBe("true");
  });
});
