import { readdirSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../../crates/server/assets/docs.js";
import {
  curlOf,
  exampleOf,
  limits,
  normalise,
  operations,
  resolve,
  typeText,
  wrappedIn,
} from "../../crates/server/assets/openapi.js";

const ASSETS = `${import.meta.dirname}/../../crates/server/assets`;

const SPEC = {
  openapi: "3.1.0",
  info: { title: "Godel", version: "9.9.9", description: "First.\n\n- a `list`\n- of two" },
  security: [{ apiKey: [] }],
  tags: [{ name: "events", description: "What happened." }, { name: "empty" }],
  paths: {
    "/api/v1/events": {
      get: {
        tags: ["events"],
        operationId: "list_events",
        summary: "List events",
        parameters: [
          { name: "limit", in: "query", schema: { type: "integer", default: 20, maximum: 100 } },
          { $ref: "#/components/parameters/Pattern" },
        ],
        responses: {
          200: {
            description: "A page",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Node" } } },
          },
          401: { $ref: "#/components/responses/Error" },
        },
      },
      post: {
        tags: ["events"],
        summary: "Publish",
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/New" } } },
        },
        responses: { 201: { description: "Recorded" } },
      },
    },
    "/api/v1/events/{eventId}": {
      parameters: [{ name: "eventId", in: "path", required: true, schema: { type: "string" } }],
      get: {
        tags: ["events"],
        parameters: [
          {
            name: "eventId",
            in: "path",
            required: true,
            schema: { type: "string", format: "uuid" },
          },
        ],
        responses: { 200: { description: "It" } },
      },
    },
    "/health": { get: { summary: "Probe", security: [], responses: { 200: { description: "" } } } },
  },
  components: {
    parameters: {
      Pattern: { name: "filter", in: "query", required: true, schema: { example: "agent:*" } },
    },
    responses: { Error: { description: "Refused" } },
    schemas: {
      Status: { type: "string", enum: ["up", "down"] },
      Base: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
      Node: {
        allOf: [{ $ref: "#/components/schemas/Base" }],
        type: "object",
        properties: {
          next: { oneOf: [{ type: "null" }, { $ref: "#/components/schemas/Node" }] },
          status: { $ref: "#/components/schemas/Status", description: "Beside the reference" },
        },
      },
      New: {
        type: "object",
        required: ["type"],
        properties: { type: { type: "string", example: "it's:me" }, note: { type: "string" } },
      },
      Tree: { type: "object", properties: { child: { $ref: "#/components/schemas/Tree" } } },
      Loop: { $ref: "#/components/schemas/Loop" },
    },
  },
};

describe("schemas", () => {
  it.each([
    [{ type: ["string", "null"] }, "string or null"],
    [{ type: "string", nullable: true }, "string or null"],
    [{ type: "string", format: "date-time" }, "string (date-time)"],
    [{ type: "array", items: { $ref: "#/components/schemas/Base" } }, "array of Base"],
    [{ oneOf: [{ type: "null" }, { $ref: "#/components/schemas/Base" }] }, "Base or null"],
    [{ anyOf: [{ $ref: "#/components/schemas/Base" }, { type: "string" }] }, "Base or string"],
    [{ allOf: [{ $ref: "#/components/schemas/Base" }] }, "Base"],
    [{ type: "object", additionalProperties: { type: "integer" } }, "map of integer"],
    [{ const: false }, "false"],
    [{ enum: ["a", "b"] }, "string"],
    [{}, "any"],
    [true, "any"],
    [{ $ref: "#/components/schemas/Missing" }, "any"],
  ])("%j is %s", (schema, expected) => {
    expect(typeText(SPEC, schema)).toBe(expected);
  });

  it("names a component that was written out, and sees through an envelope", () => {
    const { Base } = SPEC.components.schemas;
    const envelope = { type: "object", properties: { success: { type: "boolean" }, data: Base } };
    expect(typeText(SPEC, { type: "array", items: Base })).toBe("array of Base");
    expect(wrappedIn(SPEC, envelope)).toBe(Base);
    expect(wrappedIn(SPEC, Base)).toBeUndefined();
    expect(typeText(SPEC, envelope)).toBe("{success, data}");
  });

  it("merges allOf and keeps what stands beside a reference", () => {
    const node = normalise(SPEC, { $ref: "#/components/schemas/Node" });
    expect(Object.keys(node.properties).sort()).toEqual(["id", "next", "status"]);
    expect(node.required).toEqual(["id"]);
    expect(resolve(SPEC, node.properties.status).description).toBe("Beside the reference");
  });

  it("says what a value may be", () => {
    expect(limits({ enum: ["a", null], default: "a", maxLength: 3 })).toBe(
      'one of "a"; default "a"; max length 3',
    );
  });

  it("survives references that go in circles", () => {
    expect(typeText(SPEC, { $ref: "#/components/schemas/Loop" })).toBe("any");
    expect(exampleOf(SPEC, { $ref: "#/components/schemas/Node" })).toEqual({ id: "text" });
    const tree = exampleOf(SPEC, { $ref: "#/components/schemas/Tree" });
    expect(JSON.stringify(tree)).toContain('{"child":{"child":{');
  });
});

describe("operations", () => {
  const [list, publish, read, health] = operations(SPEC);

  it("have an id, a tag and resolved parameters", () => {
    expect(list).toMatchObject({ id: "list-events", tag: "events", path: "/api/v1/events" });
    expect(list.parameters.map((parameter) => parameter.name)).toEqual(["limit", "filter"]);
    expect(health).toMatchObject({ id: "get-health", tag: "other", isPublic: true });
  });

  it("prefer their own parameter over the path's", () => {
    expect(read.parameters).toHaveLength(1);
    expect(read.parameters[0].schema.format).toBe("uuid");
  });

  it("put a relative server before the path", () => {
    const [first] = operations({ ...SPEC, servers: [{ url: "/base/" }] });
    expect(first.path).toBe("/base/api/v1/events");
  });

  it("become commands that a shell can run", () => {
    expect(curlOf(SPEC, list, "http://h")).toBe(
      `curl 'http://h/api/v1/events?filter=agent%3A*' \\\n  -H "X-API-Key: $GODEL_KEY"`,
    );
    expect(curlOf(SPEC, publish, "http://h")).toBe(
      [
        "curl -X POST http://h/api/v1/events",
        `-H "X-API-Key: $GODEL_KEY"`,
        `-H "Content-Type: application/json"`,
        `-d '{"type":"it'\\''s:me"}'`,
      ].join(" \\\n  "),
    );
    expect(curlOf(SPEC, read, "http://h")).toContain("http://h/api/v1/events/EVENT_ID");
    expect(curlOf(SPEC, health, "http://h")).toBe("curl http://h/health");
  });

  it("show an endless answer as it comes, and no command for a socket", () => {
    const content = { "text/event-stream": {} };
    const stream = { ...health, responses: [["200", { content }]] };
    expect(curlOf(SPEC, stream, "http://h")).toBe("curl -N http://h/health");
    const socket = { ...health, responses: [["101", {}]] };
    expect(curlOf(SPEC, socket, "http://h")).toBeUndefined();
  });
});

describe("the page", () => {
  const html = readFileSync(`${ASSETS}/docs.html`, "utf8");

  beforeEach(() => {
    // The body alone: the page's own script is called by hand.
    document.body.innerHTML = html.slice(html.indexOf("<body"), html.indexOf("</body>"));
  });

  function answer(status, body) {
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status }));
  }

  it("shows every operation, grouped and linked", async () => {
    answer(200, SPEC);
    await main();
    expect(document.querySelectorAll("article")).toHaveLength(4);
    expect(document.querySelector("h1").textContent).toBe("Godel 9.9.9");
    expect(document.getElementById("list-events").textContent).toContain("default 20");
    expect(document.body.textContent).not.toContain("undefined");
    expect([...document.querySelectorAll("section > h2")].map((h2) => h2.textContent)).toEqual([
      "events",
      "other",
    ]);
    const links = [...document.querySelectorAll("#contents a")].map((a) => a.getAttribute("href"));
    expect(links).toContain("#list-events");
    expect(document.querySelector("#contents a .where").textContent).toBe("/api/v1/events");
  });

  it("filters by words and hides empty groups", async () => {
    answer(200, SPEC);
    await main();
    const input = document.getElementById("filter");
    input.value = "post events";
    input.dispatchEvent(new Event("input"));
    const shown = [...document.querySelectorAll("article")].filter((part) => !part.hidden);
    expect(shown.map((part) => part.id)).toEqual(["post-api-v1-events"]);
    expect(document.getElementById("tag-other").hidden).toBe(true);
    expect(document.getElementById("count").textContent).toBe("1 of 4");
  });

  it("draws nested fields only when they are opened", async () => {
    answer(200, SPEC);
    await main();
    const nested = document.querySelector("#list-events details.nested");
    expect(nested.childElementCount).toBe(1);
    nested.open = true;
    nested.dispatchEvent(new Event("toggle"));
    expect(nested.querySelector(".fields").textContent).toContain("next");
  });

  it("explains a refusal and a broken server", async () => {
    answer(401, {});
    await main();
    expect(document.querySelector("[role=alert]").textContent).toContain("Sign in");
    answer(500, {});
    await main();
    expect(document.querySelector("[role=alert]").textContent).toContain("500");
  });

  it("needs nothing from elsewhere and nothing inline", () => {
    for (const name of readdirSync(ASSETS)) {
      const text = readFileSync(`${ASSETS}/${name}`, "utf8");
      expect(text, name).not.toMatch(/https?:\/\/|\sstyle="|\son\w+="|@import|innerHTML =/);
    }
    expect(html.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/docs/docs.js">']);
  });
});
