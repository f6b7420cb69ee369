import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import { BatchDrawer } from "./BatchDrawer";
import { leftOf, partsOf, readBatch, sendBatch } from "./batch";

const BATCH = "POST /api/v1/tasks/batch";
const titlesOf = (body: unknown) =>
  (body as { tasks: { title: string }[] }).tasks.map(({ title }) => title);
const made = (title: string) => ({ id: `id-${title}`, state: "ready", fresh: true });
const lines = (...titles: string[]) => titles.map((title) => JSON.stringify({ title })).join("\n");

beforeEach(() => sessionStorage.clear());

describe("many tasks at once", () => {
  it("are read line by line, and what is none is named", () => {
    const { tasks, faults } = readBatch('{"title":"a","pool":"ci"}\n\n[]\n{"pool":"ci"}\nno\n');
    expect(tasks.map(({ number, task }) => [number, task])).toEqual([
      [1, { title: "a", pool: "ci" }],
    ]);
    expect(faults.map(({ number, why }) => `${number}: ${why}`)).toEqual([
      "3: It is no JSON object.",
      "4: It has no title.",
      "5: It is no JSON object.",
    ]);
  });

  it("go to the server in parts that it takes", () => {
    const { tasks } = readBatch(lines("a", "b", "c"));
    expect(partsOf(tasks, 2).map((part) => part.length)).toEqual([2, 1]);
    const long = { title: "x", payload: { text: "y".repeat(200_000) } };
    const { tasks: large } = readBatch(
      [long, long, long].map((one) => JSON.stringify(one)).join("\n"),
    );
    expect(partsOf(large).map((part) => part.length)).toEqual([2, 1]);
  });

  it("what was made before an error is not made again by the next try", async () => {
    let asked = 0;
    fakeServer({
      [BATCH]: ({ body }) => {
        asked += 1;
        if (asked > 1) return refuse(503, "busy", "the database is busy");
        return ok({ items: titlesOf(body).map(made) });
      },
    });
    const outcome = await sendBatch(readBatch(lines("a", "b", "c", "d", "e")).tasks, 2);
    expect(outcome.made).toBe(2);
    expect(outcome.error?.message).toBe("the database is busy");
    expect(leftOf(outcome)).toBe(lines("c", "d", "e"));
  });

  it("G12 those that are refused stay in the form with the reason, the others are made", async () => {
    const onClose = vi.fn();
    const calls = fakeServer({
      [BATCH]: ({ body }) =>
        ok({
          items: titlesOf(body).map((title) =>
            title === "bad"
              ? { error: { code: "no_pool", message: "there is no room" } }
              : made(title),
          ),
        }),
    });
    renderPart(<BatchDrawer onClose={onClose} />);
    const box = screen.getByLabelText<HTMLTextAreaElement>("The tasks, one JSON object a line");
    const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
    fireEvent.change(box, { target: { value: "{" } });
    screen.getByText("It is no JSON object.");
    fireEvent.change(box, { target: { value: lines("a", "bad", "b") } });
    press("Make 3 tasks");
    await screen.findByText("There is no room.");
    screen.getByText("Line 1");
    expect(box.value).toBe(lines("bad"));
    expect(onClose).not.toHaveBeenCalled();
    fireEvent.change(box, { target: { value: lines("good") } });
    press("Make 1 task");
    await expect.poll(() => onClose.mock.calls.length).toBe(1);
    expect(calls.map(({ body }) => titlesOf(body))).toEqual([["a", "bad", "b"], ["good"]]);
  });

  it("G14 whoever may make no task cannot send", () => {
    fakeServer({});
    renderPart(<BatchDrawer onClose={() => undefined} />, {
      ...SESSION,
      role: "viewer",
      permissions: ["task:read:team"],
    });
    const box = screen.getByLabelText("The tasks, one JSON object a line");
    fireEvent.change(box, { target: { value: lines("a") } });
    const button = screen.getByRole("button", { name: "Make 1 task" });
    expect(button.hasAttribute("disabled")).toBe(true);
  });
});
