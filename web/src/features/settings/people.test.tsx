import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { Toaster } from "../../change/Toaster";
import { PeopleSection } from "./PeopleSection";

const ADA = { id: "u7", name: "ada", role: "developer", status: "active", projects: ["p1"] };
const PROJECTS = [
  { id: "p1", name: "web" },
  { id: "p2", name: "api" },
];
const page = (items: unknown[]) => ok({ items, pagination: { hasMore: false } });

/** A server on which ada works in some projects. */
function world() {
  let ada = ADA;
  return fakeServer({
    "GET /api/v1/users?limit=100": () => page([ada]),
    "GET /api/v1/projects?limit=100": () => page(PROJECTS),
    "PATCH /api/v1/users/u7": ({ body }) => {
      ada = { ...ada, ...(body as object) };
      return ok(ada);
    },
  });
}

const show = (session = SESSION) =>
  renderPart(
    <>
      <PeopleSection />
      <Toaster />
    </>,
    session,
  );
const sent = (calls: ReturnType<typeof world>) =>
  calls.filter(({ method }) => method === "PATCH").map(({ body }) => body);
const open = async (user: ReturnType<typeof userEvent.setup>) => {
  await user.click(await screen.findByRole("button", { name: "Do something with ada" }));
  await user.click(screen.getByRole("menuitem", { name: /^Choose projects/ }));
  return within(screen.getByRole("dialog", { name: "Projects of ada", hidden: true }));
};

beforeEach(() => sessionStorage.clear());

it("G12 the projects of somebody are shown, chosen, and put back", async () => {
  const calls = world();
  const user = userEvent.setup();
  show();
  await screen.findByText(/works in web$/);
  const dialog = await open(user);
  const save = () => dialog.getByRole("button", { name: "Save", hidden: true });
  expect(save().getAttribute("aria-disabled"), "as it was").toBe("true");
  await user.click(dialog.getByLabelText("api"));
  dialog.getByText("godel user project ada --set web,api");
  await user.click(save());
  await screen.findByText("ada works in 2 projects now");
  screen.getByText(/works in web, api$/);
  await user.click(screen.getByRole("button", { name: "Undo" }));
  await screen.findByText(/works in web$/);
  expect(sent(calls)).toEqual([{ projects: ["p1", "p2"] }, { projects: ["p1"] }]);
});

it("G2 what was chosen is there when the question is asked again, and all are none by name", async () => {
  const calls = world();
  const user = userEvent.setup();
  show();
  let dialog = await open(user);
  await user.click(dialog.getByLabelText("web"));
  dialog.getAllByText("Choose a project, or say all of them.");
  await user.click(dialog.getByRole("button", { name: "Cancel", hidden: true }));
  dialog = await open(user);
  expect(dialog.getByLabelText<HTMLInputElement>("web").checked).toBe(false);
  await user.selectOptions(dialog.getByLabelText("Works in"), "all");
  dialog.getByText("godel user project ada --all");
  await user.click(dialog.getByRole("button", { name: "Save", hidden: true }));
  await screen.findByText("ada works in all projects now");
  expect(sent(calls)).toEqual([{ projects: [] }]);
});

it("G14 who may only look at people sees where they work, and cannot change it", async () => {
  world();
  show({ ...DEVELOPER, permissions: [...(DEVELOPER.permissions ?? []), "user:read:team"] });
  await screen.findByText(/works in web$/);
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Do something with ada" }));
  const line = screen.getByRole("menuitem", { name: /^Choose projects/ });
  expect(line.getAttribute("aria-disabled")).toBe("true");
});
