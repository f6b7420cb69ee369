//! Pi. It has no MCP; Godel is on its PATH.

use godel_llm::Dialect;
use serde_json::json;

use super::allow::Words;
use super::{Launch, Plan, Resume, TOKEN_VARIABLE, pretty};

const WORDS: &Words = &[
    ("read", &["read", "ls"]),
    ("write", &["write"]),
    ("edit", &["edit"]),
    ("search", &["grep", "find"]),
    ("shell", &["bash"]),
];

pub(super) fn launch(plan: &Plan, resume: Option<&Resume>) -> Launch {
    let mut launch = Launch::default()
        .with_args(["--mode", "rpc", "--model", &format!("godel/{}", plan.model)])
        // Extensions run code and ask questions of their own.
        .with_args(["--no-extensions", "--session-dir", &plan.in_home(".pi/sessions")]);
    if let Some(resume) = resume {
        let how = if resume.copied { "--fork" } else { "--session" };
        launch = launch.with_args([how, &resume.id]);
    }
    if let Some(system) = &plan.system {
        launch = launch.with_args(["--append-system-prompt", system]);
    }
    if !plan.allowed.is_all() {
        launch = launch.with_args(["--tools", &plan.allowed.of(WORDS).join(",")]);
    }
    let (api, path) = match plan.dialect {
        Dialect::Anthropic => ("anthropic-messages", ""),
        Dialect::Responses => ("openai-responses", "/v1"),
        Dialect::Chat => ("openai-completions", "/v1"),
        Dialect::Gemini => ("google-generative-ai", "/v1beta"),
    };
    let provider = json!({
        "baseUrl": format!("{}{path}", plan.base()),
        "apiKey": format!("${TOKEN_VARIABLE}"),
        "api": api,
        "models": [{ "id": plan.model, "name": plan.model, "reasoning": true, "input": ["text"] }],
    });
    let models = json!({ "providers": { "godel": provider } });
    launch
        .with_env([
            // Two processes with one such folder end each other.
            ("PI_CODING_AGENT_DIR", &plan.in_home(".pi/agent")),
            ("PI_OFFLINE", "1"),
            ("PI_TELEMETRY", "0"),
        ])
        .with_file(".pi/agent/models.json", pretty(&models))
}
