import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { AgentWalls } from "./AgentStatus";

it("A2 the walls of an agent are told, and that there are none is a warning in words and colour", () => {
  const { rerender } = render(<AgentWalls agent={fakeAgent({ sandbox: "workspace" })} />);
  const badge = screen.getByTitle("Behind the walls workspace");
  expect(badge.textContent).toBe("worktree · workspace");
  const calm = badge.className;
  rerender(<AgentWalls agent={fakeAgent({ sandbox: "none" })} />);
  const open = screen.getByTitle("It can do all that the server can do");
  expect(open.textContent).toBe("worktree · no walls");
  expect(open.className).toMatch(/_bad_/);
  expect(calm).not.toMatch(/_bad_/);
});
