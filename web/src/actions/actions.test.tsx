import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { SESSION } from "../../tests/fakeServer";
import { PAGES } from "../pages";
import { SessionProvider } from "../roles/session";
import "../shell/actions";
import { type ActionSpec, definedActions, useAction } from "./actions";
import { conflicts, keysOf, setKeys } from "./keymap";
import { chordOf, keyCaps } from "./keys";
import { PENDING_MS, useKeys, usePendingKey } from "./listener";

const GO: ActionSpec = { id: "t.go", scope: "global", title: "Go", keys: ["z a"] };
const ONE: ActionSpec = { id: "t.one", scope: "global", title: "One", keys: ["o"] };
const LEAD: ActionSpec = {
  ...{ id: "t.lead", scope: "global", title: "Lead", keys: ["l"] },
  can: "agent:execute:own",
};
const FIND: ActionSpec = { id: "t.find", scope: "global", title: "Find", keys: ["mod+k"] };

beforeEach(() => setKeys(ONE.id, undefined));

describe("all actions of all pages", () => {
  it("are defined once, and no key starts two of them", async () => {
    for (const page of PAGES) await page.load();
    expect(conflicts(definedActions())).toEqual([]);
    expect(definedActions().length).toBeGreaterThan(10);
  });

  it("would be told apart if two had the same key", () => {
    const spec = (id: string, scope: string, key: string) => ({
      id,
      scope,
      title: id,
      keys: [key],
    });
    expect(conflicts([spec("a", "p", "x"), spec("b", "p", "x")])).toHaveLength(1);
    expect(conflicts([spec("a", "p", "x"), spec("b", "q", "x")])).toHaveLength(0);
    expect(conflicts([spec("a", "global", "g"), spec("b", "q", "g a")])).toHaveLength(1);
    expect(conflicts([spec("a", "p", "x"), spec("a", "q", "y")])).toHaveLength(1);
  });
});

describe("keys", () => {
  const ran = vi.fn();

  function Page() {
    useKeys();
    useAction(GO, () => ran("go"));
    useAction(ONE, () => ran("one"));
    useAction(FIND, () => ran("find"));
    useAction(LEAD, () => ran("lead"));
    const pending = usePendingKey();
    return (
      <>
        <p>{pending ? `${pending} and then` : "nothing"}</p>
        <input aria-label="field" />
      </>
    );
  }

  beforeEach(() => ran.mockReset());

  it("start what they stand for, one after the other if need be", () => {
    render(<Page />);
    fireEvent.keyDown(document.body, { key: "z" });
    expect(screen.getByText("z and then")).toBeTruthy();
    fireEvent.keyDown(document.body, { key: "a" });
    fireEvent.keyDown(document.body, { key: "o" });
    expect(ran.mock.calls.flat()).toEqual(["go", "one"]);
    expect(screen.getByText("nothing")).toBeTruthy();
  });

  it("forget the first of two after a second", () => {
    vi.useFakeTimers();
    render(<Page />);
    fireEvent.keyDown(document.body, { key: "z" });
    vi.advanceTimersByTime(PENDING_MS);
    fireEvent.keyDown(document.body, { key: "a" });
    expect(ran).not.toHaveBeenCalled();
    cleanup();
  });

  it("are letters in a field, but for those with a modifier", () => {
    render(<Page />);
    const field = screen.getByLabelText("field");
    fireEvent.keyDown(field, { key: "o" });
    fireEvent.keyDown(field, { key: "k", ctrlKey: true });
    expect(ran.mock.calls.flat()).toEqual(["find"]);
  });

  it("G14 start nothing that the person may not do", () => {
    const press = (permissions: string[]) => {
      render(
        <SessionProvider value={{ ...SESSION, permissions }}>
          <Page />
        </SessionProvider>,
      );
      fireEvent.keyDown(document.body, { key: "l" });
      cleanup();
    };
    press(["agent:read:team"]);
    expect(ran).not.toHaveBeenCalled();
    press(["agent:execute:own"]);
    expect(ran.mock.calls.flat()).toEqual(["lead"]);
  });

  it("can be changed by a person and given back", () => {
    setKeys(ONE.id, ["q"]);
    expect(keysOf(ONE)).toEqual(["q"]);
    render(<Page />);
    fireEvent.keyDown(document.body, { key: "o" });
    fireEvent.keyDown(document.body, { key: "q" });
    expect(ran.mock.calls.flat()).toEqual(["one"]);
    setKeys(ONE.id, undefined);
    expect(keysOf(ONE)).toEqual(["o"]);
  });

  it("are read from a press and drawn as caps", () => {
    const press = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
    expect(chordOf({ ...press, key: "?", shiftKey: true })).toBe("?");
    expect(chordOf({ ...press, key: "K", shiftKey: true })).toBe("shift+k");
    expect(chordOf({ ...press, key: "k", metaKey: true })).toBe("mod+k");
    expect(chordOf({ ...press, key: " " })).toBe("space");
    expect(chordOf({ ...press, key: "Shift", shiftKey: true })).toBeUndefined();
    expect(keyCaps("mod+k", true)).toEqual(["⌘", "K"]);
    expect(keyCaps("g a", false)).toEqual(["G", "A"]);
  });
});
