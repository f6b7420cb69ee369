import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, HEALTH, ok, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { HealthPanel } from "./HealthPanel";
import { busyOf } from "./system";

const at = (uptimeSeconds: number, cpuSeconds: number) => ({ uptimeSeconds, cpuSeconds });

it("how busy a server is, is so since it was asked before, or since it began", () => {
  expect(busyOf(at(100, 20), undefined)).toBe(20);
  expect(busyOf(at(110, 25), at(100, 20))).toBe(50);
  expect(busyOf(at(5, 1), at(100, 20)), "started anew").toBe(20);
  expect(busyOf(at(0, 0), undefined)).toBe(0);
});

const METRICS = { memoryBytes: 121_000_000, openFiles: 40, webSockets: 1, ...at(200, 5) };

it("what the server uses is beside how it is", async () => {
  fakeServer({
    "GET /health": () => ({ status: 200, body: HEALTH }),
    "GET /api/v1/metrics/system": () => ok(METRICS),
  });
  renderPart(<HealthPanel />);
  await screen.findByText("121 MB");
  screen.getByText("2.5%");
  screen.getByTitle("100% is one core. 1 WebSocket, 40 open files.");
});

it("G14 who may not know what it uses is not refused it", async () => {
  const calls = fakeServer({ "GET /health": () => ({ status: 200, body: HEALTH }) });
  renderPart(<HealthPanel />, { ...SESSION, permissions: ["agent:read:team"] });
  await screen.findByText("Healthy");
  expect(calls.map(({ path }) => path)).toEqual(["/health"]);
});
