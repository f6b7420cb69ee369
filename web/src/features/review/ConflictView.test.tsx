import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fakeServer, ok, refuse } from "../../../tests/fakeServer";
import { ConflictView } from "./ConflictView";

const PATH = "GET /api/v1/reviews/app-1/conflicts";
const spot = {
  above: ["top"],
  target: ["<b>theirs</b>"],
  base: [],
  work: [],
  below: [],
  cut: false,
};

function show() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <ConflictView bead="app-1" commit="abc" target="main" />
    </QueryClientProvider>,
  );
}

afterEach(() => vi.unstubAllGlobals());

describe("R6 where work conflicts with its branch", () => {
  it("shows both sides of each place as text, and says where a side has nothing", async () => {
    const file = {
      path: "a.txt",
      why: "both sides changed the same lines",
      spots: [spot],
      cut: true,
    };
    const data = { target: "main", targetCommit: "def", commit: "abc", files: [file], cut: false };
    fakeServer({ [PATH]: () => ok(data) });
    show();
    await screen.findByText("<b>theirs</b>");
    screen.getByText("1 file in conflict with main", { exact: false });
    const work = screen.getByText("In the work").parentElement as HTMLElement;
    within(work).getByText("It has none of these lines.");
    expect(screen.queryByText("Before, on both")).toBeNull();
  });

  it("says that it can be merged, or why nobody knows", async () => {
    const none = { target: "main", targetCommit: "def", commit: "abc", files: [], cut: false };
    fakeServer({ [PATH]: () => ok(none) });
    show();
    await screen.findByText(/can be merged into main/);
    fakeServer({ [PATH]: () => refuse(409, "review_refused", "there is no work to look at") });
    show();
    await screen.findByText(/no work to look at/);
  });
});
