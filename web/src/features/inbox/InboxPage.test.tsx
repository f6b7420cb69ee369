import { screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Notice } from "../../api/types";
import { Page } from "./InboxPage";

const question = (id: string, special: Partial<Notice> = {}) => ({
  ...{ id, kind: "question", agent: id, agentId: id, text: `Of ${id}?`, choices: [] },
  ...{ state: "open", createdAt: "2026-11-15T10:00:00Z" },
  ...special,
});

beforeEach(() => {
  fakeServer({
    "GET /api/v1/inbox?limit=100": () =>
      ok({
        items: [question("n1"), question("n2"), question("n3", { kind: "stuck" })],
        pagination: { hasMore: false },
      }),
  });
});

const open = (search: string) => {
  window.history.replaceState(null, "", `/dashboard/inbox${search}`);
  renderPart(<Page rest={[]} />);
};
const focusedCard = () =>
  document.activeElement?.closest("[data-notice]")?.getAttribute("data-notice");

it("C9 the address of a notice leads to its answer box, once", async () => {
  open("?notice=n2");
  await expect.poll(focusedCard).toBe("n2");
  expect(document.activeElement?.tagName).toBe("TEXTAREA");
  await expect.poll(() => window.location.search).toBe("");
  expect(document.querySelector('[data-notice="n2"]')?.hasAttribute("data-cursor")).toBe(true);
});

it("C9 what takes no words is pressed", async () => {
  open("?notice=n3");
  await expect.poll(focusedCard).toBe("n3");
  expect(document.activeElement?.textContent).toBe("Restart n3");
});

it("one that is answered already leads nowhere", async () => {
  open("?notice=gone");
  await screen.findByText("Of n1?");
  expect(focusedCard()).toBeUndefined();
});
