import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Notice } from "../../api/types";
import { NoticeCard } from "./NoticeCard";

const DEVELOPER = { ...SESSION, role: "developer", permissions: ["agent:execute:own"] };
const LIMIT: Notice = {
  id: "n-1",
  kind: "budget",
  state: "open",
  scope: "tenant",
  budgetId: "b-1",
  text: "The budget is used up",
  choices: [],
  createdAt: "2026-11-16T10:00:00Z",
};
const STUCK: Notice = { ...LIMIT, kind: "stuck", agentId: "a-1", agent: "worker-1" };

const aside = () => screen.getByRole("button", { name: "Put aside" });

it("who works alone sees why what is for all cannot be put aside", () => {
  renderPart(<NoticeCard notice={LIMIT} />, DEVELOPER);
  expect(aside().getAttribute("aria-disabled")).toBe("true");
  screen.getByText(/Your role developer does not allow this; it needs agent:execute:team\./);
});

it("what an agent asks is put aside by who may lead it, and what is for all by who may for all", () => {
  const { unmount } = renderPart(<NoticeCard notice={STUCK} />, DEVELOPER);
  expect(aside().getAttribute("aria-disabled")).toBeNull();
  unmount();
  renderPart(<NoticeCard notice={LIMIT} />);
  expect(aside().getAttribute("aria-disabled")).toBeNull();
});
