//! opencode.

use godel_llm::Dialect;
use serde_json::{Value, json};

use super::allow::Words;
use super::{Launch, Plan, Resume, TOKEN_VARIABLE, TOOL_SECONDS_MAX, pretty};

const SYSTEM: &str = ".config/opencode/godel.md";
const WORDS: &Words = &[
    ("read", &["read", "list"]),
    ("search", &["grep", "glob"]),
    ("shell", &["bash"]),
    ("todo_write", &["todowrite", "todoread"]),
];

pub(super) fn launch(plan: &Plan, prompt: &str, resume: Option<&Resume>) -> Launch {
    let mut launch = Launch::default()
        .with_args(["run", "--format", "json", "--thinking", "--auto"])
        .with_args(["--dir", &plan.folder]);
    if let Some(resume) = resume {
        launch = launch.with_args(["-s", &resume.id]);
    }
    environment(plan, launch).with_input(prompt)
}

/// Adds what it needs whoever starts it.
pub(super) fn environment(plan: &Plan, mut launch: Launch) -> Launch {
    let (provider, version) = match plan.dialect {
        Dialect::Anthropic => ("anthropic", "v1"),
        Dialect::Responses => ("openai", "v1"),
        Dialect::Gemini => ("google", "v1beta"),
        Dialect::Chat => ("godel", "v1"),
    };
    let model = format!("{provider}/{}", plan.model);
    let mut entry = json!({
        "options": {
            "baseURL": format!("{}/{version}", plan.base()),
            "apiKey": format!("{{env:{TOKEN_VARIABLE}}}"),
        },
        "models": { plan.model.as_str(): { "name": plan.model } },
    });
    if plan.dialect == Dialect::Chat {
        entry["npm"] = json!("@ai-sdk/openai-compatible");
        entry["name"] = json!("Godel");
    }
    let mut config = json!({
        "model": model, "small_model": model,
        // Without this it may choose a model that its vendor hosts.
        "enabled_providers": [provider],
        "provider": { provider: entry },
        "permission": permission(plan),
        "autoupdate": false, "share": "disabled",
    });
    if let Some(system) = &plan.system {
        config["instructions"] = json!([plan.in_home(SYSTEM)]);
        launch = launch.with_file(SYSTEM, system.clone());
    }
    if let Some(tools) = &plan.tools {
        let command: Vec<&String> = std::iter::once(&tools.command).chain(&tools.args).collect();
        let variable = |name: &str| format!("{{env:{name}}}");
        let server = json!({
            "type": "local", "command": command, "enabled": true,
            "timeout": TOOL_SECONDS_MAX * 1000,
            "environment": {
                TOKEN_VARIABLE: variable(TOKEN_VARIABLE),
                "GODEL_BASE_URL": variable("GODEL_BASE_URL"),
            },
        });
        config["mcp"] = json!({ tools.name.as_str(): server });
    }
    launch
        .with_env([
            ("XDG_CONFIG_HOME", &plan.in_home(".config")),
            ("XDG_DATA_HOME", &plan.in_home(".local/share")),
            ("XDG_STATE_HOME", &plan.in_home(".local/state")),
            ("XDG_CACHE_HOME", &plan.in_home(".cache")),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ])
        .with_file(".config/opencode/opencode.json", pretty(&config))
}

/// What it may use; of what it knows no name of, nothing.
fn permission(plan: &Plan) -> Value {
    let allowed = &plan.allowed;
    if allowed.is_all() {
        return json!({ "*": "allow" });
    }
    let mut all = json!({ "*": "deny" });
    for name in allowed.of(WORDS) {
        all[name] = json!("allow");
    }
    // It has one word for every change of a file. Godel itself sees to its own tools.
    let changes = allowed.allows("write") && allowed.allows("edit");
    all["edit"] = json!(if changes { "allow" } else { "deny" });
    if let Some(tools) = &plan.tools {
        all[format!("{}_*", tools.name)] = json!("allow");
    }
    all
}
