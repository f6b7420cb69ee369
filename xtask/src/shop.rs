//! Where the chores work: the folders, the tools, and how a command is run there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result, Told};
use crate::nursery::{Nursery, Process};

/// No single command may take longer; a hang must not look like patience.
const COMMAND_LIMIT: Duration = Duration::from_secs(45 * 60);
/// How often a long command shows that it lives.
const HEARTBEAT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// The workspace, and the processes at work in it.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) nursery: Nursery,
    pub(crate) ci: bool,
    verbose: bool,
}

impl Shop {
    /// Opens the workspace that this program was built in.
    pub(crate) fn open(verbose: bool) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .ok_or_else(|| Failure::new("xtask lies outside of a workspace"))?
            .to_owned();
        let target = target_folder(&root)?;
        // A server that is compiled while this is missing shows no dashboard even when it is built later.
        let dist = root.join("web/dist");
        fs::create_dir_all(&dist).told(format!("make {}", dist.display()))?;
        let nursery = Nursery::open()?;
        let ci =
            std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        Ok(Self { root, target, nursery, ci, verbose })
    }

    /// The folder of the dashboard.
    pub(crate) fn web(&self) -> PathBuf {
        self.root.join("web")
    }

    /// The built `godel` program.
    pub(crate) fn godel(&self, profile: &str) -> PathBuf {
        self.target.join(profile).join("godel")
    }

    /// Prepares a call of cargo in the workspace.
    pub(crate) fn cargo<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(cargo_program());
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Prepares a call of npm in the dashboard.
    pub(crate) fn npm<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(self.web());
        command
    }

    /// Runs a command to its end and returns what it said; on failure the output goes along.
    ///
    /// The output is kept in `target/xtask/<name>.log`.
    pub(crate) fn captured(&self, name: &str, command: &mut Command) -> Result<String> {
        let folder = self.target.join("xtask");
        fs::create_dir_all(&folder).told(format!("create {}", folder.display()))?;
        let path = folder.join(format!("{name}.log"));
        let log = File::create(&path).told(format!("create {}", path.display()))?;
        let errors = log.try_clone().told(format!("open {}", path.display()))?;
        let shown = line_of(command);
        command.stdout(log).stderr(errors).env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never");
        command.env("TERM", "dumb").env_remove("FORCE_COLOR");
        let mut process = self.nursery.spawn(command)?;
        let end = self.follow(&mut process, &path)?;
        let output = plain(&String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()));
        let status = match end {
            Some(status) if status.success() => return Ok(output),
            Some(status) => status.to_string(),
            None => format!("no end after {} minutes", COMMAND_LIMIT.as_secs() / 60),
        };
        Err(Failure::new(format!("`{shown}` failed ({status})")).output(output))
    }

    /// Runs a command whose output goes to the terminal.
    pub(crate) fn shown(&self, command: &mut Command) -> Result<()> {
        println!("$ {}", line_of(command));
        let mut process = self.nursery.spawn(command)?;
        loop {
            match process.wait(HEARTBEAT)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    let what = format!("`{}` failed ({status})", line_of(command));
                    return Err(Failure::new(what));
                }
                None => {}
            }
        }
    }

    /// Waits for a process, with a sign of life (or all of its output) on the terminal.
    fn follow(
        &self,
        process: &mut Process,
        log: &Path,
    ) -> Result<Option<std::process::ExitStatus>> {
        let started = Instant::now();
        let mut beat = started;
        let mut reader = File::open(log).told(format!("open {}", log.display()))?;
        let mut pending = Vec::new();
        loop {
            let end = process.wait(POLL)?;
            if self.verbose {
                // What cannot be shown now is still in the log.
                let _ = reader.read_to_end(&mut pending);
                let _ = std::io::stdout().write_all(&std::mem::take(&mut pending));
            } else if end.is_none() && beat.elapsed() >= HEARTBEAT {
                beat = Instant::now();
                let text = plain(&String::from_utf8_lossy(&fs::read(log).unwrap_or_default()));
                let last = text.lines().rev().find(|line| !line.trim().is_empty());
                let last: String = last.unwrap_or("...").trim().chars().take(90).collect();
                println!("    {:>5} s  {last}", started.elapsed().as_secs());
            }
            if end.is_some() || started.elapsed() >= COMMAND_LIMIT {
                return Ok(end);
            }
        }
    }
}

/// A command as a person would type it.
pub(crate) fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// Removes terminal colours: `ESC [ ... letter`, and the two characters after any other `ESC`.
pub(crate) fn plain(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            result.push(character);
        } else if characters.next() == Some('[') {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            characters.next();
        }
    }
    result
}

fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn target_folder(root: &Path) -> Result<PathBuf> {
    let output = Command::new(cargo_program())
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .told("run cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::new("cargo metadata failed").output(said));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).told("read what cargo metadata says")?;
    let folder = metadata["target_directory"].as_str();
    Ok(PathBuf::from(folder.ok_or_else(|| Failure::new("cargo metadata names no target folder"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_removed_and_text_stays() {
        assert_eq!(plain("\u{1b}[32m 3 passed\u{1b}[39m ok \u{1b}[1;2m"), " 3 passed ok ");
        assert_eq!(plain("\u{1b}(B\u{1b}[mnothing"), "nothing");
    }

    #[test]
    fn a_shown_command_can_be_typed() {
        let mut command = Command::new("/usr/bin/godel");
        command.args(["publish", "--payload", "{\"n\":1}", "it's"]);
        assert_eq!(line_of(&command), r#"godel publish --payload '{"n":1}' 'it'\''s'"#);
    }
}
