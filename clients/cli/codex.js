// Codex.

import { join } from "node:path";

const QUIET = `
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
[features]
plugins = false
apps = false
`;

/** The provider as an entry of its own, or as another address of the built-in one. */
function settings(as, base) {
  if (as === "built-in") return `openai_base_url = "${base}/v1"\n${QUIET}`;
  return `model_provider = "godel"
${QUIET}
[model_providers.godel]
name = "Godel"
base_url = "${base}/v1"
env_key = "GODEL_TOKEN"
wire_api = "responses"
`;
}

/** How it is started with nothing but a base URL and a token. */
function plan({ as, base, token, model, prompt, node, modules, repository }) {
  return {
    files: { ".codex/config.toml": settings(as, base) },
    command: [
      node, join(modules, "@openai", "codex", "bin", "codex.js"), "exec", "--json",
      "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-C", repository,
      "-m", model, prompt,
    ],
    environment: as === "built-in" ? { CODEX_API_KEY: token } : { GODEL_TOKEN: token },
  };
}

/** Says what is wrong; lines of the type error are only warnings. */
function judge(events, code) {
  const last = events.findLast((event) => event.type?.startsWith("turn."));
  return last?.type === "turn.completed" ? "" : `the turn did not complete (exit ${code})`;
}

/** The text that it ends with. */
function answer(events) {
  return events.findLast((event) => event.item?.type === "agent_message")?.item.text;
}

export default { plan, judge, answer };
