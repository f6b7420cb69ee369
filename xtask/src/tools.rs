//! The tools that must be there before anything else: Rust, Node, npm, git, a C compiler.

use std::process::{Command, Stdio};

use godel_engines::Version;

use crate::failure::{Failure, Result};

struct Tool {
    name: &'static str,
    program: &'static str,
    at_least: u32,
    get: &'static str,
}

const TOOLS: [Tool; 5] = [
    Tool { name: "Rust", program: "rustc", at_least: 1, get: "see https://rustup.rs" },
    Tool {
        name: "Node",
        program: "node",
        at_least: 20,
        get: "see https://nodejs.org (20 or newer)",
    },
    Tool {
        name: "npm",
        program: "npm",
        at_least: 0,
        get: "it comes with Node: https://nodejs.org",
    },
    Tool { name: "git", program: "git", at_least: 2, get: "`sudo apt-get install git`" },
    Tool {
        name: "a C compiler",
        program: "cc",
        at_least: 0,
        get: "`sudo apt-get install build-essential`, on a Mac `xcode-select --install`",
    },
];

/// Checks that every tool is there and new enough; returns their versions in one line.
pub(crate) fn check() -> Result<String> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for tool in &TOOLS {
        match version(tool.program) {
            Some(version) if version.0.first().copied().unwrap_or_default() >= tool.at_least => {
                found.push(format!("{} {version}", tool.program));
            }
            Some(old) => {
                missing.push(format!(
                    "{} is {old}, and {} is the oldest that works: {}",
                    tool.name, tool.at_least, tool.get
                ));
            }
            None => {
                missing.push(format!("{} ({}) is missing: {}", tool.name, tool.program, tool.get));
            }
        }
    }
    if missing.is_empty() {
        return Ok(found.join(", "));
    }
    Err(Failure::new("tools are missing on this machine").output(missing.join("\n")))
}

/// Whether a program can be called.
pub(crate) fn has(program: &str) -> bool {
    version(program).is_some()
}

fn version(program: &str) -> Option<Version> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    // Some compilers say no number a reader would find; that they answer is enough.
    Some(Version::find(&String::from_utf8_lossy(&output.stdout)).unwrap_or_default())
}
