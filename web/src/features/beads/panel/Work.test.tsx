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
function show(reviews: readonly unknown[], sessions: readonly unknown[], hasMore: boolean) {
  const pagination = { hasMore, ...(hasMore && { cursor: "more" }) };
  const none = ok({ items: [], pagination: { hasMore: false } });
  const agents = new URLSearchParams({ limit: "1000", filter: JSON.stringify({ bead: "b1" }) });
  const calls = fakeServer({
    [`GET /api/v1/reviews?limit=${MOST_REVIEWS}&projectId=p`]: () => ok({ items: reviews }),
    "GET /api/v1/reviews/b1?projectId=p": () => ok(review("b1", 7)),
    "GET /api/v1/sessions?limit=100": () => ok({ items: sessions, pagination }),
    [`GET /api/v1/agents?${agents}`]: () => none,
  });
  renderPart(<Work bead={BEAD} />);
  return calls;
}

it("G10 a change that is not among the reviews that the server lists is asked for by itself", async () => {
  const others = Array.from({ length: MOST_REVIEWS }, (_, at) => review(`other-${at}`, 1));
  show(others, [], false);
  await screen.findByText("2 files, +7 −1");
});

it("asks for no review by itself if the list has it", async () => {
  const calls = show([review("b1", 3)], [], false);
  await screen.findByText("2 files, +3 −1");
  expect(calls.filter(({ path }) => path.startsWith("/api/v1/reviews/"))).toEqual([]);
});

it("G10 says that not all sessions were looked through, if there are more", async () => {
  show(
    [],
    Array.from({ length: 1_000 }, (_, at) => session(at)),
    true,
  );
  await screen.findByText(/^worker-1, ended/);
  screen.getByText(": Only the newest 1,000 sessions were looked through");
});

it("says nothing of the kind if all sessions were", async () => {
  show([], [session(1)], false);
  await screen.findByText(/^worker-1, ended/);
  expect(screen.queryByText("Not all")).toBeNull();
});
