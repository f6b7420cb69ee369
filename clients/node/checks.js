// What the checks of all SDKs share: the arguments, the report, the script of a tool round.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";

// A picture of one dot.
export const PIXEL_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PIXEL_SEEN = `image/png of ${Buffer.from(PIXEL_BASE64, "base64").length} bytes`;

// Two calls at once, and what their answers must become.
export const CALLS = '[[call weather {"city":"Rome"}]] [[call clock {"city":"Oslo"}]]';
export const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
};
export const RESULTS = { weather: "sunny in Rome", clock: "noon in Oslo" };
export const TOLD = "The tool said: sunny in Rome | noon in Oslo";

export const USAGE =
  "[[usage input=100 cache_read=40 cache_write=20 output=7 reasoning=3]]";

// What a structured answer must look like, and what comes.
export const TITLE = {
  type: "object",
  properties: { title: { type: "string" }, count: { type: "integer" } },
  required: ["title", "count"],
  additionalProperties: false,
};
export const TITLED = { title: "Scripted answer", count: 1 };

const { values } = parseArgs({
  options: {
    base: { type: "string" },
    token: { type: "string" },
    model: { type: "string" },
    without: { type: "string", multiple: true, default: [] },
  },
});
export const base = values.base.replace(/\/$/, "");
export const { token, model } = values;

/** A prompt that no other run has, so that what is counted by prompt is counted anew. */
export function prompt(text) {
  return `${text} (${randomUUID()})`;
}

/** Runs checks one by one and prints a line of JSON for each. */
export async function run(client, checks) {
  let failed = false;
  for (const [key, check] of Object.entries(checks)) {
    const name = key.replaceAll("_", " ");
    if (values.without.includes(name)) continue;
    let detail = "";
    try {
      await check();
    } catch (error) {
      // One broken check must not hide the others.
      failed = true;
      detail = String(error?.stack ?? error).slice(0, 2000) || "an error without words";
    }
    console.log(JSON.stringify({ name: `${client}: ${name}`, ok: detail === "", detail }));
  }
  process.exitCode = failed ? 1 : 0;
}

export const same = assert.deepEqual;

export function has(text, part) {
  assert.ok(text?.includes(part), `${JSON.stringify(part)} is not in ${JSON.stringify(text)}`);
}

/** Makes a call that must be refused, and returns the error. */
export async function refused(call, status) {
  const error = await call().then(() => assert.fail("it was not refused"), (error) => error);
  same(error.status, status, String(error));
  return error;
}

/** Makes a call that must take its time, and returns its result. */
export async function waits(call, seconds) {
  const started = performance.now();
  const result = await call();
  const took = (performance.now() - started) / 1000;
  assert.ok(took >= seconds, `it came back after ${took} s`);
  return result;
}
