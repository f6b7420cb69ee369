// Claude Code.

import { join } from "node:path";

/** How it is started with nothing but a base URL and a token. */
function plan({ base, token, model, prompt, modules }) {
  const binary = join(
    modules, "@anthropic-ai", `claude-code-${process.platform}-${process.arch}`, "claude",
  );
  return {
    command: [
      binary, "-p", "--output-format", "stream-json", "--verbose", "--model", model,
      "--allowedTools", "Bash", "--", prompt,
    ],
    environment: {
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_AUTH_TOKEN: token,
      // The models that it chooses for titles and the like.
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  };
}

/** Says what is wrong; its word for success is there on errors too. */
function judge(events, code) {
  const result = events.findLast((event) => event.type === "result");
  if (!result) return `no result (exit ${code})`;
  return result.is_error ? `it failed (exit ${code})` : "";
}

/** The text that it ends with. */
function answer(events) {
  return events.findLast((event) => event.type === "result")?.result;
}

export default { plan, judge, answer };
