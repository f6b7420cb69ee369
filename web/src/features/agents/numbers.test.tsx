import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { AgentNumbers, successOf } from "./AgentNumbers";

it("G12 how many agents run and can, who waits, and how often it went well is on the page", async () => {
  const states = { executing: 3, completed: 199, failed: 1, killed: 20 };
  fakeServer({
    "GET /api/v1/metrics/agents": () => ok({ running: 3, capacity: 1_024, waiting: 2, states }),
  });
  renderPart(<AgentNumbers />);
  await screen.findByText("3 of 1,024 running · 2 waiting for a person · 99% went well");
});

it("nothing that ended is no rate, and who was ended by a person counts for none", () => {
  expect(successOf({})).toBeUndefined();
  expect(successOf({ killed: 4, executing: 1 })).toBeUndefined();
  expect(successOf({ completed: 3, failed: 1, killed: 9 })).toBe(75);
  expect(successOf({ failed: 2 })).toBe(0);
});
