// Pi.

import { join } from "node:path";

// What it calls each dialect, and where that begins.
const APIS = {
  anthropic: ["anthropic-messages", ""],
  responses: ["openai-responses", "/v1"],
  chat: ["openai-completions", "/v1"],
  gemini: ["google-generative-ai", "/v1beta"],
};

/** How it is started with nothing but a base URL and a token. */
function plan({ as, base, token, model, prompt, node, modules }) {
  const [api, path] = APIS[as || "anthropic"];
  const godel = {
    baseUrl: `${base}${path}`,
    apiKey: "$GODEL_TOKEN",
    api,
    models: [{ id: model, name: model, reasoning: true, input: ["text"] }],
  };
  return {
    files: { ".pi/agent/models.json": JSON.stringify({ providers: { godel } }) },
    command: [
      node, join(modules, "@earendil-works", "pi-coding-agent", "dist", "bundle", "cli.js"),
      "-p", "--mode", "json", "--model", `godel/${model}`, prompt,
    ],
    environment: { GODEL_TOKEN: token, PI_OFFLINE: "1", PI_TELEMETRY: "0" },
  };
}

/** Says what is wrong; it leaves with 0 even if every request failed. */
function judge(events, code) {
  const reason = last(events)?.stopReason;
  return reason === "stop" ? "" : `it stopped with ${reason} (exit ${code})`;
}

/** The text that it ends with. */
function answer(events) {
  return last(events)?.content.map((part) => part.text ?? "").join("");
}

function last(events) {
  const ends = events.filter((event) => event.type === "message_end");
  return ends.findLast((event) => event.message?.role === "assistant")?.message;
}

export default { plan, judge, answer };
