import { describe, expectTypeOf, it } from "vitest";
import { download, get, patch, post, put, remove, upload } from "./client";
import { type Listing, list } from "./list";
import { queryOf } from "./query";
import type { Answer, ItemOf } from "./routes";
import type { Agent, Bead, BeadDetail, ImportedBeads, NoticeCount, Session, Talk } from "./types";

/** Calls that the type check reads and nobody makes: what is proved here is proved by `npm run check`. */
function typed(_calls: (id: string) => unknown): void {}

const bytes = new ArrayBuffer(0);

describe("a call that is typed by its path", () => {
  it("gets what the server answers there", () => {
    expectTypeOf<Answer<"get", "/auth/me">>().toEqualTypeOf<Session>();
    expectTypeOf<Answer<"get", `/api/v1/beads/${string}`>>().toEqualTypeOf<BeadDetail>();
    expectTypeOf<Answer<"delete", `/api/v1/beads/${string}`>>().toEqualTypeOf<undefined>();
    typed((id) => {
      expectTypeOf(get(`/api/v1/agents/${id}`)).resolves.toEqualTypeOf<Agent>();
      expectTypeOf(post(`/api/v1/sessions/${id}/resume`)).resolves.toEqualTypeOf<Talk>();
      // @ts-expect-error: the answer is an agent
      const wrong: Promise<Bead> = get(`/api/v1/agents/${id}`);
      return wrong;
    });
  });

  it("is refused where the server has no such path", () => {
    typed((id) => [
      // @ts-expect-error: nothing has this name
      get("/api/v1/bead"),
      // @ts-expect-error: a bead has nothing of this name
      get(`/api/v1/beads/${id}/logs`),
      // @ts-expect-error: only a beginning of other paths
      get("/api/v1/queue"),
      // @ts-expect-error: nothing is known about it
      get(id),
      // @ts-expect-error: one of the two is not there
      get(`/api/v1/queue/${id === "" ? "depth" : "height"}`),
    ]);
  });

  it("is refused with a method that the path does not have", () => {
    typed((id) => [
      // @ts-expect-error: agents are not changed by parts
      patch(`/api/v1/agents/${id}`, {}),
      // @ts-expect-error: who is logged in is not put
      put("/auth/me", {}),
      // @ts-expect-error: not all beads are deleted
      remove("/api/v1/beads"),
      // @ts-expect-error: it is read, not posted
      post("/api/v1/inbox/count"),
    ]);
  });

  it("is refused with a body that the server does not take", () => {
    typed((id) => [
      post("/api/v1/beads", { title: "t" }),
      // What is undefined is not sent.
      post("/api/v1/beads", { title: "t", description: undefined }),
      // @ts-expect-error: the title is missing
      post("/api/v1/beads", {}),
      // @ts-expect-error: there is no such field
      post("/api/v1/beads", { title: "t", colour: "red" }),
      // @ts-expect-error: a title is text
      post("/api/v1/beads", { title: 1 }),
      // @ts-expect-error: a field that must be there is not undefined
      post("/api/v1/beads", { title: undefined }),
      // @ts-expect-error: no body at all
      post("/api/v1/beads"),
      // @ts-expect-error: here is none wanted
      post("/auth/logout", {}),
      // @ts-expect-error: one of the two wants a body, the other wants none
      post(`/api/v1/agents/${id}/${id === "" ? "kill" : "restart"}`, {}),
    ]);
  });

  it("tells a parameter from a segment with a route of its own", () => {
    expectTypeOf<Answer<"get", "/api/v1/inbox/count">>().toEqualTypeOf<NoticeCount>();
    expectTypeOf<Answer<"get", "/api/v1/beads/ready">>().not.toEqualTypeOf<BeadDetail>();
    expectTypeOf<Answer<"get", "/api/v1/beads/gd-1">>().toEqualTypeOf<BeadDetail>();
    expectTypeOf<Answer<"post", "/api/v1/beads/import">>().toEqualTypeOf<ImportedBeads>();
    typed((id) => [
      post(`/api/v1/landings/${id}/move`, {}),
      // @ts-expect-error: the entries are not posted, only `pause` and `resume`
      post(`/api/v1/landings/${id}`, {}),
    ]);
  });

  it("looks neither at the query nor at the name of a parameter", () => {
    type Of<Tail extends string> = Answer<"get", `/api/v1/beads/${string}${Tail}`>;
    expectTypeOf<Of<"?projectId=p">>().toEqualTypeOf<BeadDetail>();
    expectTypeOf<Of<`?from=a/b&to=${string}`>>().toEqualTypeOf<BeadDetail>();
    typed((id) => {
      const path = `/api/v1/beads/${id}${queryOf({ projectId: id })}` as const;
      expectTypeOf(get(path)).resolves.toEqualTypeOf<BeadDetail>();
    });
  });

  it("gives the items of a list, and takes nothing else for one", () => {
    expectTypeOf<ItemOf<"/api/v1/beads">>().toEqualTypeOf<Bead>();
    typed(() => {
      expectTypeOf(list("/api/v1/agents")).resolves.toEqualTypeOf<Listing<Agent>>();
      // @ts-expect-error: it comes as a whole
      return list("/api/v1/budgets");
    });
  });

  it("sends and reads files where there are files", () => {
    typed((id) => [
      upload("/api/v1/beads/import", { bytes, type: "application/x-ndjson" }),
      // @ts-expect-error: not this kind of file
      upload("/api/v1/beads/import", { bytes, type: "image/png" }),
      // @ts-expect-error: this is no JSON
      post("/api/v1/beads/import", {}),
      download(`/api/v1/reviews/${id}/patch`),
      // @ts-expect-error: this would be the bead of that name, in an envelope
      download("/api/v1/beads/exports"),
      // @ts-expect-error: nothing has this name
      download("/api/v1/bead/export"),
      // @ts-expect-error: this is no envelope
      get(`/api/v1/reviews/${id}/patch`),
      // @ts-expect-error: this is not answered at all, but a socket
      get(`/api/v1/agents/${id}/attach`),
    ]);
  });
});
