import { expect, it } from "vitest";
import { fakeServer, ok } from "../../../tests/fakeServer";
import { readWork } from "./waiting";

const row = (bead: string, more = {}) => ({ bead, projectId: "p", added: 1, ...more });
const page = (items: unknown[], cursor?: string) => () =>
  ok({ items, pagination: { hasMore: cursor !== undefined, cursor } });

it("reads page by page until there is enough, and has each bead once", async () => {
  const first = Array.from({ length: 100 }, (_, at) => row(`a${at}`));
  const calls = fakeServer({
    "GET /api/v1/reviews?limit=100&projectId=p": page(first, "one"),
    "GET /api/v1/reviews?limit=100&projectId=p&cursor=one": page(
      [row("b0", { approval: {} }), row("a3", { added: 7 }), row("b1")],
      "two",
    ),
    "GET /api/v1/reviews?limit=100&projectId=p&cursor=two": page([row("b2")]),
  });
  const all = await readWork(500, { projectId: "p" });
  expect([all.items.length, all.isCut, calls.length]).toEqual([103, false, 3]);
  expect(all.items.find(({ bead }) => bead === "a3")?.added).toBe(7);
  // What somebody approved comes last, wherever it was.
  expect(all.items.at(-1)?.bead).toBe("b0");
  const some = await readWork(100, { projectId: "p" });
  expect([some.items.length, some.isCut]).toEqual([100, true]);
});
