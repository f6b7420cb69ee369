import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { newQueryClient } from "../../queryClient";
import { bead } from "./fakeBead";
import { HowMany } from "./HowMany";
import { STATUSES } from "./looks";
import { BEAD_LISTS, beadQueries } from "./queries";
import { Rest } from "./Rest";

/** A server with so many thousand beads, and what the page says about them. */
function show(thousands: number) {
  const filter = encodeURIComponent(JSON.stringify({ status: STATUSES })).replaceAll("%20", "+");
  const first = `GET /api/v1/beads?limit=1000&filter=${filter}`;
  const pages = Array.from({ length: thousands }, (_, at) => {
    const items = Array.from({ length: 1_000 }, (_, of) => bead(`b${at * 1_000 + of}`));
    const hasMore = at + 1 < thousands;
    const answer = ok({ items, pagination: { hasMore, ...(hasMore && { cursor: `${at + 1}` }) } });
    return [at === 0 ? first : `${first}&cursor=${at}`, () => answer] as const;
  });
  fakeServer(Object.fromEntries(pages));
  const client = newQueryClient();
  render(
    <QueryClientProvider client={client}>
      <Shown />
    </QueryClientProvider>,
  );
  return { client, user: userEvent.setup() };
}

function Shown() {
  const query = useQuery(beadQueries.all());
  return (
    <>
      {query.data && <HowMany found={query.data.items.length} listing={query.data} />}
      <Rest query={query} projectId={undefined}>
        Ask for them.
      </Rest>
    </>
  );
}

describe("more beads than a page reads", () => {
  it("G10 says that there are more, and reads on when it is asked to", async () => {
    const { client, user } = show(12);
    await screen.findByText("10,000+ beads");
    await screen.findByText(/^The first 10,000 beads are here.* there are more\. Ask for them\.$/);
    await user.click(screen.getByRole("button", { name: "Read 10,000 more" }));
    await screen.findByText("12,000 beads");
    expect(screen.queryByRole("status")).toBeNull();
    // What was asked for once is kept when everything is read anew.
    await client.invalidateQueries({ queryKey: BEAD_LISTS });
    expect(screen.getByText("12,000 beads")).toBeTruthy();
  });

  it("has nothing to say if all are here", async () => {
    show(1);
    await screen.findByText("1,000 beads");
    expect(screen.queryByRole("status")).toBeNull();
  });
});
