// Gemini CLI.

import { join } from "node:path";

const SETTINGS = {
  // A base URL alone is not enough: without this it does not know how to log in.
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
};

/** How it is started with nothing but a base URL and a token. */
function plan({ as, base, token, model, prompt, node, modules }) {
  // Without a model it asks another one which to take.
  const chosen = as === "router" ? [] : ["-m", model];
  return {
    files: { ".gemini/settings.json": JSON.stringify(SETTINGS) },
    command: [
      node, join(modules, "@google", "gemini-cli", "bundle", "gemini.js"), "-p", prompt,
      "-o", "stream-json", "--approval-mode", "yolo", ...chosen,
    ],
    environment: {
      GOOGLE_GEMINI_BASE_URL: base,
      GEMINI_API_KEY: token,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    },
  };
}

/** Says what is wrong. */
function judge(events, code) {
  const result = events.findLast((event) => event.type === "result");
  return result?.status === "success" ? "" : `no success (exit ${code})`;
}

/** The text that it ends with, which comes in pieces. */
function answer(events) {
  const pieces = events.filter((event) => event.type === "message" && event.role === "assistant");
  return pieces.map((piece) => piece.content).join("");
}

export default { plan, judge, answer };
