//! Gemini CLI.

use serde_json::json;

use super::allow::Words;
use super::{Launch, Plan, Resume, TOKEN_VARIABLE, TOOL_SECONDS_MAX, pretty};

/// A name that no tool has.
const NO_TOOL: &str = "godel_no_tool";
const WORDS: &Words = &[
    ("read", &["read_file", "read_many_files", "list_directory"]),
    ("write", &["write_file"]),
    ("edit", &["replace"]),
    ("search", &["grep_search", "glob"]),
    ("shell", &["run_shell_command"]),
    ("todo_write", &["write_todos"]),
];

/// Takes out of recorded sessions what is there twice.
///
/// Version 0.61 records the result of each call with the call, and once more as something that the user
/// said. When it goes on with such a session, it sends both, and the model refuses more results than
/// calls.
const MEND: &str = r#"
const fs = require("fs"), path = require("path");
const root = path.join(process.env.HOME, ".gemini/tmp");
const list = (folder) => fs.existsSync(folder) ? fs.readdirSync(folder) : [];
const ids = (message) => (message.toolCalls ?? []).flatMap((call) => call.result ?? [])
  .map((part) => part.functionResponse?.id);
function mend(file) {
  const records = fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map(JSON.parse);
  let known = new Set();
  const once = ({ type, content }) => type !== "user" || !Array.isArray(content) ||
    content.length === 0 || content.some((part) => !known.has(part.functionResponse?.id));
  const kept = records.filter((record) => {
    const all = record.$set?.messages;
    if (all) {
      // From here on the conversation is what this list says.
      known = new Set(all.flatMap(ids));
      record.$set.messages = all.filter(once);
      return true;
    }
    ids(record).forEach((id) => known.add(id));
    return once(record);
  });
  fs.writeFileSync(file + ".new", kept.map((record) => JSON.stringify(record) + "\n").join(""));
  fs.renameSync(file + ".new", file);
}
for (const project of list(root)) {
  const folder = path.join(root, project, "chats");
  for (const name of list(folder)) if (/^session-.*\.jsonl$/.test(name)) mend(path.join(folder, name));
}
"#;

pub(super) fn launch(plan: &Plan, prompt: &str, resume: Option<&Resume>) -> Launch {
    let mut launch = Launch::default().with_args([
        "-o",
        "stream-json",
        "--approval-mode",
        "yolo",
        "-m",
        &plan.model,
    ]);
    if let Some(resume) = resume {
        launch = launch.with_args(["--resume", &resume.id]);
        // Whoever has the program has a Node to run it with.
        let node = plan.program.first().filter(|_| plan.program.len() > 1);
        let node = node.map_or("node", String::as_str);
        launch.mend = [node, "-e", MEND].map(str::to_owned).into();
    }
    environment(plan, launch).with_input(prompt)
}

/// Adds what it needs whoever starts it.
pub(super) fn environment(plan: &Plan, mut launch: Launch) -> Launch {
    let mut settings = json!({
        // An address alone is not enough: without this it does not know how to log in.
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
        "model": { "name": plan.model },
    });
    if let Some(tools) = &plan.tools {
        let server = json!({
            "command": tools.command, "args": tools.args, "trust": true,
            "timeout": TOOL_SECONDS_MAX * 1000,
            "env": {
                TOKEN_VARIABLE: format!("${TOKEN_VARIABLE}"), "GODEL_BASE_URL": "$GODEL_BASE_URL",
            },
        });
        settings["mcpServers"] = json!({ tools.name.as_str(): server });
    }
    if !plan.allowed.is_all() {
        let mut core = plan.allowed.of(WORDS);
        // A list with nothing in it would count as none; tools that come over MCP belong to it too.
        core.push(NO_TOOL.to_owned());
        if let Some(tools) = &plan.tools {
            core.extend(plan.allowed.verbs().map(|verb| format!("mcp_{}_{verb}", tools.name)));
        }
        settings["tools"] = json!({ "core": core });
    }
    if let Some(system) = &plan.system {
        launch = launch.with_file(".gemini/GEMINI.md", system.clone());
    }
    launch.token_env.push("GEMINI_API_KEY");
    launch
        .with_env([
            ("GOOGLE_GEMINI_BASE_URL", plan.base()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("NO_BROWSER", "true"),
        ])
        .with_file(".gemini/settings.json", pretty(&settings))
}
