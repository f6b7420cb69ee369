//! The agent programs that Godel knows, as far as they are on this machine.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use godel_settings::Environment;
use serde::Serialize;

/// The programs that are looked for.
const KNOWN: &[&str] = &[
    "claude",
    "codex",
    "gemini",
    "opencode",
    "pi",
    "aider",
    "amp",
    "copilot",
    "crush",
    "cursor-agent",
    "droid",
    "goose",
    "qwen",
];

/// An agent program that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub path: PathBuf,
}

/// Looks for agent programs on the PATH; none is started.
pub fn find(environment: &Environment) -> Vec<Found> {
    let path = environment.get("PATH").unwrap_or_default();
    // What is found depends on no folder that a command happens to be in.
    let folders: Vec<PathBuf> =
        std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect();
    let found = KNOWN.iter().filter_map(|name| {
        let paths = folders.iter().map(|folder| folder.join(name));
        let path = paths.into_iter().find(|path| is_program(path))?;
        Some(Found { name, path })
    });
    found.collect()
}

/// Names the programs that are looked for.
pub fn known() -> String {
    KNOWN.join(", ")
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
