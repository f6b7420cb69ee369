//! Claude Code.

use serde_json::json;

use super::allow::Words;
use super::{Launch, Plan, Resume, TOKEN_VARIABLE, TOOL_SECONDS_MAX, pretty};

const TOOLS: &str = ".claude/godel-tools.json";
const WORDS: &Words = &[
    ("read", &["Read"]),
    ("write", &["Write"]),
    ("edit", &["Edit", "NotebookEdit"]),
    ("search", &["Glob", "Grep"]),
    ("shell", &["Bash"]),
    ("todo_write", &["TodoWrite"]),
];

pub(super) fn launch(plan: &Plan, prompt: &str, resume: Option<&Resume>) -> Launch {
    let mut launch = Launch::default()
        .with_args(["-p", "--output-format", "stream-json", "--verbose"])
        .with_args(["--include-partial-messages", "--model", &plan.model])
        .with_args(["--permission-mode", "bypassPermissions"]);
    if let Some(resume) = resume {
        launch = launch.with_args(["--resume", &resume.id]);
        if resume.copied {
            launch = launch.with_args(["--fork-session"]);
        }
    }
    if let Some(system) = &plan.system {
        launch = launch.with_args(["--append-system-prompt", system]);
    }
    launch = environment(plan, launch);
    if !plan.allowed.is_all() {
        // Those that come over MCP are not meant; Godel itself sees to its own.
        launch = launch.with_args(["--tools", &plan.allowed.of(WORDS).join(",")]);
    }
    if plan.tools.is_some() {
        launch = launch.with_args(["--mcp-config", &plan.in_home(TOOLS), "--strict-mcp-config"]);
    }
    launch.with_input(prompt)
}

/// Adds what it needs whoever starts it.
pub(super) fn environment(plan: &Plan, mut launch: Launch) -> Launch {
    launch = launch
        .with_env([
            ("ANTHROPIC_BASE_URL", plan.base()),
            ("CLAUDE_CONFIG_DIR", &plan.in_home(".claude")),
            // The models that it chooses for titles and the like.
            ("ANTHROPIC_MODEL", &plan.model),
            ("ANTHROPIC_DEFAULT_OPUS_MODEL", &plan.model),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", &plan.model),
            ("ANTHROPIC_DEFAULT_HAIKU_MODEL", &plan.model),
        ])
        .with_env([
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            // It asks for this before it lets root work without questions.
            ("IS_SANDBOX", "1"),
        ]);
    launch.token_env.push("ANTHROPIC_AUTH_TOKEN");
    let Some(tools) = &plan.tools else { return launch };
    let variable = |name: &str| format!("${{{name}}}");
    let server = json!({
        "type": "stdio", "command": tools.command, "args": tools.args,
        // Else it must look for them before it can say that it is done.
        "alwaysLoad": true,
        "env": {
            TOKEN_VARIABLE: variable(TOKEN_VARIABLE), "GODEL_BASE_URL": variable("GODEL_BASE_URL"),
        },
    });
    let servers = json!({ "mcpServers": { tools.name.as_str(): server } });
    let patience = (TOOL_SECONDS_MAX * 1000).to_string();
    launch.with_env([("MCP_TOOL_TIMEOUT", &patience)]).with_file(TOOLS, pretty(&servers))
}
