//! Finding the agent programs of a machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

use crate::harness::Harness;

/// How long a program may take to say its version; the slowest needs about ten seconds.
const VERSION_TIME: Duration = Duration::from_secs(60);
/// The most that is read of what it says.
const SAID_MAX_BYTES: u64 = 64 * 1024;

/// What every sandbox can read; who works with a program of the system needs no more.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];

/// A version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version(pub u64, pub u64, pub u64);

impl Version {
    /// Finds the first version in a text.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|each: char| !each.is_ascii_digit() && each != '.').find_map(Self::read)
    }

    fn read(word: &str) -> Option<Self> {
        let mut parts = word.split('.');
        let mut number = || parts.next()?.parse().ok();
        Some(Self(number()?, number()?, number()?))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// What is known of a program before one looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name of the program.
    pub program: &'static str,
    /// The oldest version that was tried with Godel.
    pub tried: Version,
    /// The oldest Node that it runs on, where it is installed as a script.
    pub node: Option<Version>,
    /// The package of npm that it comes from.
    pub package: &'static str,
}

impl Harness {
    /// Returns what is known of its program; nothing if any program can be behind it.
    pub const fn known(self) -> Option<Known> {
        let (program, tried, node, package) = match self {
            Self::Native | Self::Acp | Self::Command => return None,
            Self::Claude => {
                ("claude", Version(2, 1, 197), Some(Version(18, 0, 0)), "@anthropic-ai/claude-code")
            }
            Self::Codex => ("codex", Version(0, 166, 0), Some(Version(16, 0, 0)), "@openai/codex"),
            Self::Gemini => {
                ("gemini", Version(0, 61, 0), Some(Version(20, 0, 0)), "@google/gemini-cli")
            }
            Self::Opencode => {
                ("opencode", Version(1, 18, 33), Some(Version(18, 0, 0)), "opencode-ai")
            }
            Self::Pi => {
                let package = "@earendil-works/pi-coding-agent";
                ("pi", Version(0, 87, 1), Some(Version(22, 19, 0)), package)
            }
        };
        Some(Known { program, tried, node, package })
    }
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which agent it is.
    pub harness: Harness,
    /// Where it is, with links followed.
    pub path: PathBuf,
    /// Its version, if it said one.
    pub version: Option<Version>,
    /// The Node to run it with; nothing if it is a program of its own.
    pub node: Option<PathBuf>,
}

impl Found {
    /// Returns the program and what always goes before its arguments.
    pub fn line(&self) -> Vec<String> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        self.node.iter().chain([&self.path]).map(text).collect()
    }

    /// Returns the folders that a sandbox must let it read.
    pub fn folders(&self) -> Vec<PathBuf> {
        let package = |path: &PathBuf| {
            // A package finds the rest of itself beside it.
            let modules = path.ancestors().filter(|folder| folder.ends_with("node_modules"));
            modules.last().or_else(|| path.parent()).map(Path::to_owned)
        };
        self.node.iter().chain([&self.path]).filter_map(package).collect()
    }

    /// Tells what is wrong with it, in words; nothing if all is well.
    pub fn complaint(&self) -> Option<String> {
        let known = self.harness.known()?;
        let name = known.program;
        match self.version {
            None => Some(format!("{name} does not say its version")),
            Some(version) if version < known.tried => Some(format!(
                "{name} {version} is older than {}, the oldest that was tried",
                known.tried
            )),
            Some(_) => None,
        }
    }
}

/// Finds the program of an agent on a search path, and a Node that it can run on.
///
/// # Errors
/// In words: it is not there, or no Node that it needs.
pub async fn discover(harness: Harness, search: &OsStr) -> Result<Option<Found>, String> {
    let Some(known) = harness.known() else { return Ok(None) };
    let Some(path) = locate(known.program, search).into_iter().next() else { return Ok(None) };
    let path = path.canonicalize().unwrap_or(path);
    let node = match known.node.filter(|_| is_script(&path)) {
        None => None,
        Some(needed) => Some(node(needed, search).await.ok_or_else(|| {
            let name = known.program;
            format!("{name} needs Node {needed} or newer; `npm install -g node@24` gives one")
        })?),
    };
    let mut found = Found { harness, path, version: None, node };
    found.version = version(&found.line(), search).await;
    Ok(Some(found))
}

/// The program of a command line that a person wrote, as it is started in a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The whole command line.
    pub line: Vec<String>,
    /// The folders that the sandbox must let it read.
    pub folders: Vec<PathBuf>,
}

/// Finds what is started for an agent: nothing for the built-in one, the command for those that are told one.
///
/// # Errors
/// In words: it is not there, or no Node that it needs.
pub async fn program(
    harness: Harness,
    command: &[String],
    search: &OsStr,
) -> Result<Resolved, String> {
    match harness {
        Harness::Native => Ok(Resolved { line: Vec::new(), folders: Vec::new() }),
        Harness::Acp | Harness::Command => Ok(resolve(command, search).await),
        _ => {
            let found = discover(harness, search).await?;
            let found = found.ok_or_else(|| format!("{harness} is not on this machine"))?;
            Ok(Resolved { line: found.line(), folders: found.folders() })
        }
    }
}

/// Finds the program of a command line on a search path, and a Node if it is a script of one. A program
/// that is not there is left as it is: it may come with the work itself.
pub async fn resolve(line: &[String], search: &OsStr) -> Resolved {
    let asked = Resolved { line: line.to_vec(), folders: Vec::new() };
    let Some((name, args)) = line.split_first() else { return asked };
    let here = Path::new(name);
    let path = match name.contains('/') {
        true => Some(here.to_owned()).filter(|path| path.is_absolute() && is_program(path)),
        false => locate(name, search).into_iter().next(),
    };
    let Some(path) = path.map(|path| path.canonicalize().unwrap_or(path)) else { return asked };
    let known = Harness::ALL.into_iter().filter_map(Harness::known);
    let needed = known.into_iter().find(|known| here.ends_with(known.program));
    let needed = needed.and_then(|known| known.node).unwrap_or(Version(0, 0, 0));
    let node = match is_script(&path) {
        true => node(needed, search).await,
        false => None,
    };
    // Which agent it is says nothing about where it is.
    let found = Found { harness: Harness::Command, path, version: None, node };
    let own = |path: &PathBuf| !SYSTEM.iter().any(|system| path.starts_with(system));
    let folders: Vec<PathBuf> = found.folders().into_iter().filter(own).collect();
    if folders.is_empty() {
        return asked;
    }
    Resolved { line: [found.line(), args.to_vec()].concat(), folders }
}

/// Returns all programs of a name on a search path, in its order.
pub fn locate(name: &str, search: &OsStr) -> Vec<PathBuf> {
    let here = |folder: PathBuf| folder.join(name);
    std::env::split_paths(search).map(here).filter(|path| is_program(path)).collect()
}

async fn node(needed: Version, search: &OsStr) -> Option<PathBuf> {
    for path in locate("node", search) {
        let line = [path.to_string_lossy().into_owned()];
        if version(&line, search).await.is_some_and(|version| version >= needed) {
            return Some(path.canonicalize().unwrap_or(path));
        }
    }
    None
}

/// Asks a program for its version; it gets nothing of the environment but the search path.
async fn version(line: &[String], search: &OsStr) -> Option<Version> {
    let (program, args) = line.split_first()?;
    let mut child = tokio::process::Command::new(program)
        .args(args)
        .arg("--version")
        .env_clear()
        .env("PATH", search)
        .env("HOME", std::env::temp_dir().join("godel-no-home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let mut said = Vec::new();
    let mut stdout = child.stdout.take()?.take(SAID_MAX_BYTES);
    tokio::time::timeout(VERSION_TIME, stdout.read_to_end(&mut said)).await.ok()?.ok()?;
    Version::find(&String::from_utf8_lossy(&said))
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// Tells whether a program is a script that Node runs; a wrapper for a shell runs as it is.
fn is_script(path: &Path) -> bool {
    use std::io::Read;
    let mut head = Vec::with_capacity(128);
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(128).read_to_end(&mut head));
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    read.is_ok() && line.starts_with(b"#!") && line.windows(4).any(|word| word == b"node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (said, version) in [
            ("2.1.325 (Claude Code)\n", Some(Version(2, 1, 325))),
            ("codex-cli 0.166.0", Some(Version(0, 166, 0))),
            ("v24.21.0", Some(Version(24, 21, 0))),
            ("warning: 3 things\n1.18.33", Some(Version(1, 18, 33))),
            ("1.2", None),
            ("", None),
        ] {
            assert_eq!(Version::find(said), version, "{said}");
        }
        assert!(Version(0, 9, 0) < Version(0, 61, 0));
    }
}
