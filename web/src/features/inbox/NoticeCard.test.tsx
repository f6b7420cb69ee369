import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import type { Notice } from "../../api/types";
import { NoticeCard } from "./NoticeCard";

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
const STUCK: Notice = {
  ...LIMIT,
  kind: "stuck",
  agentId: "a-1",
  agent: "worker-1",
  userId: DEVELOPER.userId,
};

const ASKED: Notice = { ...STUCK, kind: "question", text: "Which colour?", choices: ["Red"] };
const GATE: Notice = {
  ...LIMIT,
  kind: "approval",
  runId: "r-1",
  workflow: "release",
  step: "agree",
  choices: ["Approve", "Reject"],
};
const ANSWER = "POST /api/v1/inbox/n-1/answer";

beforeEach(() => sessionStorage.clear());

const box = () => screen.getByLabelText<HTMLTextAreaElement>("Answer in your own words");
const answer = (text: string) => {
  fireEvent.change(box(), { target: { value: text } });
  fireEvent.keyDown(box(), { key: "Enter" });
};

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

it("G5 an answer that the server refuses is still in its box, and gone when it was told", async () => {
  let isRefused = true;
  const calls = fakeServer({
    [ANSWER]: () => (isRefused ? refuse(409, "conflict", "not now") : ok(ASKED)),
  });
  renderPart(<NoticeCard notice={ASKED} />);
  answer("red");
  await waitFor(() => expect(calls).toHaveLength(1));
  expect(box().value).toBe("red");
  isRefused = false;
  await waitFor(() => {
    fireEvent.keyDown(box(), { key: "Enter" });
    expect(box().value).toBe("");
  });
});

it("G14 Enter sends nothing for who may not answer", () => {
  const calls = fakeServer({});
  renderPart(<NoticeCard notice={ASKED} />, { ...SESSION, role: "viewer", permissions: [] });
  answer("red");
  expect(calls).toEqual([]);
  expect(box().value).toBe("red");
});

const isOff = (name: string) =>
  screen.getByRole("button", { name }).getAttribute("aria-disabled") === "true";

it("G14 what an agent of somebody else asks cannot be answered, and says whose it is not", () => {
  const calls = fakeServer({});
  const { unmount } = renderPart(<NoticeCard notice={{ ...ASKED, userId: "u1" }} />, DEVELOPER);
  answer("red");
  for (const name of ["Red", "Answer", "Let it decide"]) expect(isOff(name), name).toBe(true);
  expect(screen.getAllByText(/^worker-1 is not yours: .*agent:execute:team\.$/)).toHaveLength(3);
  unmount();
  renderPart(<NoticeCard notice={{ ...STUCK, userId: "u1" }} />, DEVELOPER);
  for (const name of ["Restart worker-1", "Put aside"]) expect(isOff(name), name).toBe(true);
  expect(calls).toEqual([]);
});

it("G14 a gate is answered by those whom it asks, whoever started the run", () => {
  const { unmount } = renderPart(<NoticeCard notice={{ ...GATE, by: ["ann"] }} />, DEVELOPER);
  for (const name of ["Approve", "Reject"]) expect(isOff(name), name).toBe(false);
  unmount();
  renderPart(<NoticeCard notice={{ ...GATE, by: ["role:admin"] }} />, DEVELOPER);
  for (const name of ["Approve", "Reject"]) expect(isOff(name), name).toBe(true);
  expect(screen.getAllByText(/^This is not yours to answer: it asks the role admin/)).toHaveLength(
    2,
  );
});
