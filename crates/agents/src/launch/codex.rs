//! Codex. It speaks Responses only.

use super::{Launch, Plan, Resume, TOKEN_VARIABLE, TOOL_SECONDS_MAX};

const QUIET: &str = r#"check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
[features]
plugins = false
apps = false
"#;

pub(super) fn launch(plan: &Plan, prompt: &str, resume: Option<&Resume>) -> Launch {
    let launch = Launch::default()
        .with_args(["exec", "--json", "--skip-git-repo-check"])
        .with_args(["--dangerously-bypass-approvals-and-sandbox"])
        .with_args(["-C", &plan.folder, "-m", &plan.model]);
    let launch = match resume {
        Some(resume) => launch.with_args(["resume", &resume.id, "-"]),
        None => launch.with_args(["-"]),
    };
    environment(plan, launch).with_input(prompt)
}

/// Adds what it needs whoever starts it.
pub(super) fn environment(plan: &Plan, launch: Launch) -> Launch {
    let home = plan.in_home(".codex");
    launch.with_env([("CODEX_HOME", &home)]).with_file(".codex/config.toml", settings(plan))
}

fn settings(plan: &Plan) -> String {
    let mut text = format!("model = {}\nmodel_provider = \"godel\"\n", quoted(&plan.model));
    if let Some(system) = &plan.system {
        text.push_str(&format!("developer_instructions = {}\n", quoted(system)));
    }
    text.push_str(QUIET);
    let base = quoted(&format!("{}/v1", plan.base()));
    text.push_str(&format!(
        "[model_providers.godel]\nname = \"Godel\"\nbase_url = {base}\n\
         env_key = \"{TOKEN_VARIABLE}\"\nwire_api = \"responses\"\n"
    ));
    if let Some(tools) = &plan.tools {
        let args: Vec<String> = tools.args.iter().map(|arg| quoted(arg)).collect();
        text.push_str(&format!(
            "[mcp_servers.{}]\ncommand = {}\nargs = [{}]\nenv_vars = [\"{TOKEN_VARIABLE}\", \
             \"GODEL_BASE_URL\"]\ntool_timeout_sec = {TOOL_SECONDS_MAX}\n",
            quoted(&tools.name),
            quoted(&tools.command),
            args.join(", "),
        ));
    }
    text
}

/// Writes a string of TOML, which escapes as JSON does but for one character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
