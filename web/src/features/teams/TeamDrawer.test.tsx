import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { TeamDrawer } from "./TeamDrawer";

beforeEach(() => {
  sessionStorage.clear();
  fakeServer({ "GET /api/v1/roles": () => ok({ items: [] }) });
});

const field = (label: string) => screen.getByLabelText<HTMLTextAreaElement>(label);
const write = (label: string, value: string) =>
  fireEvent.change(field(label), { target: { value } });
const go = (name: string) => fireEvent.click(screen.getByRole("button", { name, hidden: true }));

it("the form of a team and its JSON say the same", () => {
  renderPart(<TeamDrawer onClose={() => undefined} />);
  write("Goal", "look");
  go("JSON or a file");
  expect(JSON.parse(field("The team, as JSON").value).goal).toBe("look");
  write("The team, as JSON", '{"goal": "write", "copies": 2}');
  go("Form");
  expect(field("Goal").value).toBe("write");
  write("Goal", "read");
  go("JSON or a file");
  expect(JSON.parse(field("The team, as JSON").value)).toMatchObject({ goal: "read", copies: 2 });
  write("The team, as JSON", "{");
  go("Form");
  expect(field("The team, as JSON").value).toBe("{");
  screen.getByText(/^Write the team as a JSON object\./);
});
