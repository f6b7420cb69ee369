import { screen } from "@testing-library/react";
import { beforeEach, it, vi } from "vitest";
import { fakeServer } from "../../../tests/fakeServer";
import { FakeWire } from "../../../tests/fakeWire";
import { renderPart } from "../../../tests/renderPart";
import { LiveProvider } from "../../realtime/live";
import { Page } from "./HomePage";

vi.mock("../health/HealthPanel", () => ({
  HealthPanel: () => {
    throw new Error("a probe has no name");
  },
}));

beforeEach(() => {
  FakeWire.all = [];
  vi.stubGlobal("WebSocket", FakeWire);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  fakeServer({});
});

it("G9 one panel of Home that crashes leaves the others", () => {
  renderPart(
    <LiveProvider>
      <Page />
    </LiveProvider>,
  );
  screen.getByText(/^The health of the server could not be shown/);
  screen.getByRole("heading", { name: "Events" });
  screen.getByRole("textbox", { name: "What do you want?" });
});
