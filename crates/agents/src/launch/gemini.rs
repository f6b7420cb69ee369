//! Gemini CLI.

use serde_json::json;

use super::{Launch, Plan, TOKEN_VARIABLE, pretty};

pub(super) fn launch(plan: &Plan, prompt: &str, resume: Option<&str>) -> Launch {
    let mut launch = Launch::default().with_args([
        "-o",
        "stream-json",
        "--approval-mode",
        "yolo",
        "-m",
        &plan.model,
    ]);
    if let Some(id) = resume {
        launch = launch.with_args(["--resume", id]);
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
            "env": {
                TOKEN_VARIABLE: format!("${TOKEN_VARIABLE}"), "GODEL_BASE_URL": "$GODEL_BASE_URL",
            },
        });
        settings["mcpServers"] = json!({ tools.name.as_str(): server });
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
