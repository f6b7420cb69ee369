import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok } from "../../../../tests/fakeServer";
import { renderPart } from "../../../../tests/renderPart";
import type { BeadDetail } from "../../../api/types";
import { bead } from "../fakeBead";
import { MOST_REVIEWS } from "../queries";
import { Work } from "./Work";

const BEAD: BeadDetail = { ...bead("b1", { status: "review" }), checkedCommits: [] };
const review = (id: string, added: number) => ({
  ...{ bead: id, projectId: "p", title: id, status: "review", files: 2, added, removed: 1 },
  ...{ target: "main", risks: [], pending: 0, rounds: 0, waitingSince: "2026-11-16T10:00:00Z" },
});
const session = (at: number) => ({
  ...{ id: `s${at}`, agentId: `a${at}`, agent: `worker-${at}`, bead: `b${at}`, status: "ended" },
  ...{ branch: "main", branches: {}, saves: {}, nodes: 1, createdAt: "2026-11-16T10:00:00Z" },
});

/** What a server says that has so many reviews and sessions besides those of the bead. */
function show(reviews: readonly unknown[], sessions: readonly unknown[]) {
  const none = ok({ items: [], pagination: { hasMore: false } });
  const agents = new URLSearchParams({ limit: "1000", filter: JSON.stringify({ bead: "b1" }) });
  const filter = JSON.stringify({ bead: "b1", projectId: "p" });
  const talks = new URLSearchParams({ limit: "100", filter });
  const calls = fakeServer({
    "GET /api/v1/reviews?limit=100&projectId=p": () =>
      ok({ items: reviews, pagination: { hasMore: reviews.length >= MOST_REVIEWS } }),
    "GET /api/v1/reviews/b1?projectId=p": () => ok(review("b1", 7)),
    [`GET /api/v1/sessions?${talks}`]: () =>
      ok({ items: sessions, pagination: { hasMore: false } }),
    [`GET /api/v1/agents?${agents}`]: () => none,
  });
  renderPart(<Work bead={BEAD} />);
  return calls;
}

it("G10 a change that is not among the reviews that the server lists is asked for by itself", async () => {
  const others = Array.from({ length: MOST_REVIEWS }, (_, at) => review(`other-${at}`, 1));
  show(others, []);
  await screen.findByText("2 files, +7 −1");
});

it("asks for no review by itself if the list has it", async () => {
  const calls = show([review("b1", 3)], []);
  const change = await screen.findByRole<HTMLAnchorElement>("link", { name: "2 files, +3 −1" });
  expect(change.getAttribute("href")).toMatch(/\/review\/b1$/);
  expect(calls.filter(({ path }) => path.startsWith("/api/v1/reviews/"))).toEqual([]);
});

it("asks for the sessions of the bead alone, however many there are", async () => {
  const calls = show([], [session(1)]);
  const talk = await screen.findByRole<HTMLAnchorElement>("link", { name: "worker-1" });
  expect(talk.getAttribute("href")).toMatch(/\/agents\/worker-1\?tab=session$/);
  const asked = calls.filter(({ path }) => path.startsWith("/api/v1/sessions"));
  expect(asked.map(({ path }) => decodeURIComponent(path))).toEqual([
    '/api/v1/sessions?limit=100&filter={"bead":"b1","projectId":"p"}',
  ]);
});
