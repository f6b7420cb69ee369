import { describe, expect, it, vi } from "vitest";
import { ApiError, download, get, post, upload } from "./client";

function answer(status: number, body: unknown): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(text, { status })),
  );
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error("expected an ApiError");
  return error;
}

describe("the api client", () => {
  it("unwraps the data of a good answer", async () => {
    answer(200, { success: true, data: { name: "acme" } });
    expect(await get("/auth/me")).toEqual({ name: "acme" });
  });

  it("sends and reads files as they are", async () => {
    answer(200, { success: true, data: 1 });
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 10]).buffer;
    await upload("/api/v1/beads/import", { bytes, type: "application/x-ndjson" });
    const [, init] = vi.mocked(fetch).mock.lastCall ?? [];
    expect(init?.body).toBe(bytes);
    expect(init?.headers).toMatchObject({ "Content-Type": "application/x-ndjson" });
    answer(200, "a line\n");
    expect(await (await download("/api/v1/beads/export")).text()).toBe("a line\n");
    answer(400, { success: false, error: { code: "which_project", message: "say which project" } });
    expect(await failure(download("/api/v1/beads/export"))).toMatchObject({
      code: "which_project",
    });
  });

  it("keeps the server's sentence, hint and request id", async () => {
    answer(403, {
      success: false,
      error: { code: "link_used", message: "this link was used", hint: "ask for a new one" },
      meta: { requestId: "req-1", timestamp: "2026-11-15T00:00:00Z" },
    });
    const error = await failure(post("/auth/login", { token: "t" }));
    expect(error).toMatchObject({
      status: 403,
      code: "link_used",
      message: "this link was used",
      hint: "ask for a new one",
      requestId: "req-1",
    });
  });

  it("G9 keeps the trace of a request that failed, explained or not", async () => {
    const trace = "0123456789abcdef0123456789abcdef";
    const refusal = { success: false, error: { code: "gone", message: "it is gone" } };
    for (const body of [JSON.stringify(refusal), "<html>"]) {
      const headers = { traceparent: `00-${trace}-0123456789abcdef-01` };
      vi.stubGlobal(
        "fetch",
        vi.fn(async () => new Response(body, { status: 500, headers })),
      );
      expect((await failure(get("/auth/me"))).traceId).toBe(trace);
    }
    answer(500, refusal);
    expect((await failure(get("/auth/me"))).traceId).toBeUndefined();
  });

  it("keeps when to try again", async () => {
    const details = { retryAfterSeconds: 12 };
    answer(429, { success: false, error: { code: "rate_limited", message: "slow", details } });
    expect((await failure(get("/auth/me"))).retryAfterSeconds).toBe(12);
  });

  it.each([
    ["unauthorized", true],
    ["wrong_password", false],
    ["device_code_invalid", false],
    ["login_link_invalid", false],
  ])("reads a 401 %s as the end of the session: %s", async (code, isEnd) => {
    answer(401, { success: false, error: { code, message: "no" } });
    expect(
      (await failure(post("/auth/device/decision", { userCode: "c" }))).isUnauthenticated,
    ).toBe(isEnd);
  });

  it("accepts an empty answer", async () => {
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => new Response(null, { status: 204 })),
    );
    await expect(post("/auth/logout")).resolves.toBeUndefined();
  });

  it("explains an answer that is not ours", async () => {
    answer(502, "<html>bad gateway</html>");
    expect((await failure(get("/auth/me"))).message).toContain("502");
  });

  it("explains a server that does not answer", async () => {
    vi.stubGlobal("fetch", vi.fn().mockRejectedValue(new TypeError("failed to fetch")));
    expect(await failure(get("/auth/me"))).toMatchObject({ status: 0, code: "unreachable" });
  });
});
