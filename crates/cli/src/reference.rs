//! The reference of all commands and settings, as Markdown.

use clap::CommandFactory as _;
use godel_args::Cli;
use godel_settings::{Key, Settings};

const WIDTH: usize = 100;
const MADE: &str = "<!-- Made by `cargo xtask codegen`; do not edit. -->\n\n";

/// Writes the reference of all commands.
pub(crate) fn commands() -> String {
    let mut text = format!(
        "# The `godel` command\n\n{MADE}Every command takes `--json` and answers with the exit code \
         of its kind: 0 done, 1 failure, 2 wrong usage, 3 not found, 4 conflict, 5 denied, \
         6 unavailable. Answers go to stdout, everything else to stderr.\n"
    );
    let mut command = Cli::command().term_width(WIDTH).color(clap::ColorChoice::Never);
    command.build();
    describe(&mut command, "godel", &mut text);
    text
}

fn describe(command: &mut clap::Command, path: &str, text: &mut String) {
    let help = command.render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let help = lines.join("\n");
    text.push_str(&format!("\n## {path}\n\n```text\n{}\n```\n", help.trim_end()));
    let shown: Vec<clap::Id> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
    for sub in command.get_subcommands_mut() {
        if !sub.is_hide_set() && sub.get_name() != "help" {
            let path = format!("{path} {}", sub.get_name());
            // Said once, for the first command that has it.
            let hidden = |arg: clap::Arg| {
                let said = arg.is_global_set() && shown.contains(arg.get_id());
                if said { arg.hide(true) } else { arg }
            };
            *sub = sub.clone().mut_args(hidden);
            describe(sub, &path, text);
        }
    }
}

/// Writes the reference of all settings.
pub(crate) fn settings() -> String {
    let mut text = format!(
        "# Settings\n\n{MADE}Each setting has a default. The file `godel.toml` in the data directory \
         (or the one named by `--config` or `GODEL_CONFIG`) wins over the default, an environment \
         variable over the file, and a flag over all. An unknown name in the file is an error. \
         `godel config show --origin` shows what is in effect, and why.\n\n\
         ```toml\n# godel.toml\nlisten = \"127.0.0.1:7373\"\n\n[retention]\ndays = 90\n\n\
         [log]\nlevel = \"debug\"\n```\n\n\
         | setting | variable | flag | default |\n|---|---|---|---|\n"
    );
    let defaults = serde_json::to_value(Settings::default()).unwrap_or_default();
    let keys = Settings::keys();
    for key in &keys {
        let pointer = format!("/{}", key.name.replace('.', "/"));
        let default = match defaults.pointer(&pointer) {
            None | Some(serde_json::Value::Null) => "-".to_owned(),
            Some(serde_json::Value::String(text)) => format!("`{text}`"),
            Some(other) => format!("`{other}`"),
        };
        let flag = key.flag().map_or("-".to_owned(), |flag| format!("`{flag}`"));
        let variable = key.variable();
        text.push_str(&format!("| `{}` | `{variable}` | {flag} | {default} |\n", key.name));
    }
    text.push_str("\n## What they mean\n\n");
    for Key { name, about, .. } in &keys {
        let about: Vec<&str> = about.lines().map(str::trim).collect();
        text.push_str(&format!("- **`{name}`**: {}\n", about.join(" ").trim()));
    }
    text.push_str(OTHERS);
    text
}

const OTHERS: &str = "
## Other variables

| variable | meaning |
|---|---|
| `GODEL_DATA` | the data directory, as `--data` |
| `GODEL_CONFIG` | the configuration file, as `--config` |
| `GODEL_SERVER` | the server that commands talk to, as `--server` |
| `GODEL_CA` | whom commands trust as a server: a PEM file or a SHA-256 fingerprint, as `--ca` |
| `GODEL_KEY` | the API key that commands use; without it, `owner.key` in the data directory, which is sent to this machine only |
| `GODEL_AGENT` | the name that whoever works on beads acts under, as `--by`; without it, `user.name` of git |
| `GODEL_LEASE_TOKEN` | the token of a claim on a bead, as `--token` |
| `GODEL_TOKEN` | by custom, the token of an agent; no command reads it |
| `GODEL_TASK_ID`, `GODEL_TASK_ATTEMPT`, `GODEL_TASK_TITLE`, `GODEL_TASK_POOL`, `GODEL_TASK_PRIORITY`, `GODEL_WORKER_ID` | what `godel worker run` tells its command; all other `GODEL_` variables are taken out |
| `NO_COLOR` | no colours, as `--no-color` |
";

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fresh(name: &str, made: &str) {
        let path = format!("{}/../../docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == made, "docs/reference/{name} is stale: run `cargo xtask codegen`");
    }

    #[test]
    fn the_reference_of_commands_is_fresh() {
        is_fresh("cli.md", &commands());
    }

    #[test]
    fn the_reference_of_settings_is_fresh() {
        is_fresh("config.md", &settings());
    }
}
