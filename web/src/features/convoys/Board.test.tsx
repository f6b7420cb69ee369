import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { useKeys } from "../../actions/listener";
import { bead } from "../beads/fakeBead";
import { BeadGraph } from "../beads/graph";
import { MOST_REVIEWS } from "../beads/queries";
import { Board } from "./Board";
import { lanesOf } from "./board";

const MANY = 1_000;
const nameOf = (at: number) => `agent-${String(at).padStart(4, "0")}`;
const BEADS = Array.from({ length: MANY }, (_, at) => bead(`b${at}`, { agent: nameOf(at) }));
const GRAPH = new BeadGraph(BEADS);
const LANES = lanesOf(BEADS, "agent", []);

function Keyed() {
  useKeys();
  return (
    <Board
      lanes={LANES}
      beads={BEADS}
      graph={GRAPH}
      project={undefined}
      peeked={undefined}
      onPeek={() => undefined}
    />
  );
}

const names = () => screen.getAllByRole("region").map((lane) => lane.getAttribute("aria-label"));
const head = (at: number) => screen.getByRole("button", { name: nameOf(at) });
const box = () => {
  const element = screen.getByRole("list", { name: "Lanes" }).parentElement;
  if (!element) throw new Error("the lanes are in nothing that scrolls");
  return element;
};
const scrollTo = (top: number) => {
  box().scrollTop = top;
  fireEvent.scroll(box());
};
const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
const focusedCard = () =>
  document.activeElement?.closest("[data-card]")?.getAttribute("data-card") ?? undefined;

describe("a board with the lanes of a thousand agents", () => {
  beforeEach(() => {
    localStorage.clear();
    window.history.replaceState(null, "", "/dashboard/convoys?lanes=agent");
    fakeServer({});
    renderPart(<Keyed />);
  });

  it("G1 draws few of their heads, and says how many there are", () => {
    expect(names().length).toBeGreaterThan(6);
    expect(names().length).toBeLessThan(200);
    expect(head(3).closest("li")?.getAttribute("aria-setsize")).toBe("1000");
    expect(head(3).closest("li")?.getAttribute("aria-posinset")).toBe("4");
    scrollTo(46 * 500);
    expect(names()).toContain(nameOf(500));
    expect(names()).not.toContain(nameOf(20));
    expect(names().length).toBeLessThan(200);
  });

  it("one that was unfolded stays, and keys lead to its cards from afar", () => {
    scrollTo(46 * 500);
    fireEvent.click(head(500));
    scrollTo(0);
    expect(names()).not.toContain(nameOf(499));
    expect(names()).toContain(nameOf(500));
    for (let at = 0; at < 7; at += 1) press("j");
    expect(focusedCard()).toBe("b500");
    press("k");
    expect(focusedCard()).toBe("b5");
  });

  it("a head that has the focus stays, and what is folded is remembered", () => {
    head(2).focus();
    fireEvent.click(head(2));
    expect(head(2).getAttribute("aria-expanded")).toBe("false");
    scrollTo(46 * 500);
    expect(document.activeElement).toBe(head(2));
    expect(JSON.parse(localStorage.getItem("godel.board.folds") ?? "")).toEqual({
      [`agent ${nameOf(2)}`]: true,
    });
  });
});

it("G10 says so where cards do not tell their change because the server lists only some", async () => {
  const inReview = ["known", "unknown"].map((id) => bead(id, { status: "review", agent: id }));
  const row = (id: string) => ({
    bead: id,
    projectId: "p",
    commit: "c0ffee",
    added: 4,
    removed: 2,
    risks: [],
  });
  const items = Array.from({ length: MOST_REVIEWS }, (_, at) => row(at === 0 ? "known" : `o${at}`));
  const none = () => ok({ items: [], pagination: { hasMore: false } });
  fakeServer({
    "GET /api/v1/reviews?limit=100": () =>
      ok({ items, pagination: { hasMore: true, cursor: "next" } }),
    "GET /api/v1/reviews?limit=100&status=in-progress": none,
  });
  renderPart(
    <Board
      lanes={lanesOf(inReview, "agent", [])}
      beads={inReview}
      graph={new BeadGraph(inReview)}
      project={undefined}
      peeked={undefined}
      onPeek={() => undefined}
    />,
  );
  await screen.findByText("+4");
  const badges = () =>
    screen
      .queryAllByText("Not all")
      .map((badge) => badge.closest("[data-lane]")?.getAttribute("aria-label"));
  await waitFor(() => expect(badges()).toEqual(["unknown"]));
});

it("C2 a card tells the change of work that is still done, once there is a commit", async () => {
  const beads = ["begun", "idle"].map((id) => bead(id, { status: "in-progress", agent: id }));
  const row = (id: string, more: object) => ({
    ...{ bead: id, projectId: "p", added: 0, removed: 0, risks: [] },
    ...more,
  });
  const items = [
    row("begun", { commit: "c0ffee", added: 12, removed: 3, gates: false }),
    row("idle", {}),
  ];
  const page = (rows: unknown[]) => () => ok({ items: rows, pagination: { hasMore: false } });
  fakeServer({
    "GET /api/v1/reviews?limit=100": page([]),
    "GET /api/v1/reviews?limit=100&status=in-progress": page(items),
  });
  const { container } = renderPart(
    <Board
      lanes={lanesOf(beads, "none", [])}
      beads={beads}
      graph={new BeadGraph(beads)}
      project={undefined}
      peeked={undefined}
      onPeek={() => undefined}
    />,
  );
  await screen.findByText("+12");
  const card = (id: string) => container.querySelector(`[data-card="${id}"]`)?.textContent;
  expect(card("begun")).toContain("+12−3checks failed");
  expect(card("idle")).not.toContain("+0");
});
