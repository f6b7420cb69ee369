// opencode.

import { join } from "node:path";

// What it calls the SDK of each dialect.
const PROVIDERS = {
  anthropic: "anthropic",
  responses: "openai",
  chat: "godel",
  gemini: "google",
};

/** How it is started with nothing but a base URL and a token. */
function plan({ as, base, model, token, prompt, modules, repository }) {
  const dialect = as || "anthropic";
  const provider = PROVIDERS[dialect];
  const version = dialect === "gemini" ? "v1beta" : "v1";
  const config = {
    model: `${provider}/${model}`,
    small_model: `${provider}/${model}`,
    // Without this it may choose a model that its vendor hosts.
    enabled_providers: [provider],
    provider: {
      [provider]: {
        ...(dialect === "chat" && { npm: "@ai-sdk/openai-compatible", name: "Godel" }),
        options: { baseURL: `${base}/${version}`, apiKey: "{env:GODEL_TOKEN}" },
        models: { [model]: { name: model } },
      },
    },
    permission: { "*": "allow" },
    autoupdate: false,
    share: "disabled",
  };
  const binary = join(modules, `opencode-${process.platform}-${process.arch}`, "bin", "opencode");
  return {
    command: [binary, "run", "--format", "json", "--dir", repository, prompt],
    environment: {
      GODEL_TOKEN: token,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    },
  };
}

/** Says what is wrong. */
function judge(events, code) {
  if (events.some((event) => event.type === "error")) return `it failed (exit ${code})`;
  const last = events.findLast((event) => event.type === "step_finish");
  return last?.part?.reason === "stop" ? "" : `it did not finish (exit ${code})`;
}

/** The text that it ends with. */
function answer(events) {
  return events.findLast((event) => event.type === "text")?.part?.text;
}

export default { plan, judge, answer };
