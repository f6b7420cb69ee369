import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { renderPart } from "../../tests/renderPart";
import { defineAction, useAction } from "../actions/actions";
import { useKeys } from "../actions/listener";
import { ConfirmHost, confirm } from "../change/confirm";
import { Menu } from "../ui/Menu";
import { Guarded } from "./Guarded";

let isOnline = true;
vi.mock("../realtime/live", async (original) => ({
  ...(await original<typeof import("../realtime/live")>()),
  useIsOnline: () => isOnline,
}));

const WAITS = "The connection is lost; this waits until it is back.";
const base = { scope: "review", icon: "cross" } as const;
const END = defineAction({ ...base, id: "test.end", title: "End", keys: ["q"], destructive: true });
const LOOK = defineAction({ ...base, id: "test.look", title: "Look", keys: ["w"] });
const did: string[] = [];

function Page() {
  useKeys();
  useAction(END, () => did.push("key end"));
  useAction(LOOK, () => did.push("key look"));
  const item = (id: string, destructive: boolean) => ({
    ...{ id, title: id, destructive, cli: "godel" },
    run: () => void did.push(`menu ${id}`),
  });
  return (
    <>
      <Guarded destructive onClick={() => did.push("button end")}>
        End it
      </Guarded>
      <Guarded onClick={() => did.push("button look")}>Look at it</Guarded>
      <Menu label="More" items={[item("finish", true), item("peek", false)]} />
      <ConfirmHost />
    </>
  );
}

const choose = (title: RegExp) => {
  fireEvent.click(screen.getByRole("button", { name: "More" }));
  fireEvent.click(screen.getByRole("menuitem", { name: title }));
};

/** Tries everything that cannot be taken back, and beside each something that can. */
async function tryAll(): Promise<boolean> {
  fireEvent.click(screen.getByRole("button", { name: "End it" }));
  fireEvent.click(screen.getByRole("button", { name: "Look at it" }));
  for (const key of ["q", "w"]) fireEvent.keyDown(document.body, { key });
  choose(/^peek/);
  choose(/^finish/);
  let isSure = false;
  act(() => {
    confirm({ title: "Sure?", body: "All of it", act: "Do it" }).then((yes) => {
      isSure = yes;
    });
  });
  fireEvent.click(screen.getByRole("button", { name: "Do it" }));
  await act(async () => undefined);
  const cancel = screen.queryByRole("button", { name: "Cancel" });
  if (cancel) fireEvent.click(cancel);
  return isSure;
}

beforeEach(() => {
  isOnline = true;
  did.length = 0;
});

it("G4 while the connection is lost nothing is done that cannot be taken back, by no way there is", async () => {
  isOnline = false;
  renderPart(<Page />);
  expect(await tryAll()).toBe(false);
  expect(did).toEqual(["button look", "key look", "menu peek"]);
  expect(screen.getAllByText(WAITS).length).toBeGreaterThan(0);
});

it("G4 with a connection all of it is done", async () => {
  renderPart(<Page />);
  expect(await tryAll()).toBe(true);
  expect(did).toEqual([
    "button end",
    "button look",
    "key end",
    "key look",
    "menu peek",
    "menu finish",
  ]);
});
