import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { fakeServer, ok } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import { RunDrawer } from "./RunDrawer";

const RELEASE = { id: "w-1", name: "release", version: 1, source: "name: release\nsteps: []\n" };
const text = () => screen.getByLabelText<HTMLTextAreaElement>("The workflow, as YAML or JSON");

beforeEach(() => {
  sessionStorage.clear();
  fakeServer({
    "GET /api/v1/workflows?limit=100": () =>
      ok({ items: [RELEASE], pagination: { hasMore: false } }),
    "GET /api/v1/workflows/release": () => ok(RELEASE),
  });
});

it("a text that somebody writes stays when the stored workflows come, until one is chosen", async () => {
  renderPart(<RunDrawer onClose={() => undefined} />);
  fireEvent.change(text(), { target: { value: "name: own" } });
  const choice = await screen.findByLabelText<HTMLSelectElement>("Workflow");
  expect(choice.value).toBe("");
  expect(text().value).toBe("name: own");
  fireEvent.change(choice, { target: { value: "release" } });
  await screen.findByText("Run release");
});
