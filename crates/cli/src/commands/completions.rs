//! `godel completions`: scripts that complete commands in a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;
use godel_args::Cli;
use godel_console::{Context, Exit, Result};

/// Prints the script for a shell.
pub(crate) fn run(context: &Context, shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "godel", &mut script);
    let script = String::from_utf8_lossy(&script);
    if context.output.is_json() {
        let answer = serde_json::json!({ "shell": shell.to_string(), "script": script });
        context.output.value(&answer)?;
    } else {
        context.output.text(script)?;
    }
    Ok(Exit::Done)
}
