//! What commands need that work on a repository: no server, no settings, no data directory.

use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use godel_args::local::Who;
use godel_beads::{Draft, Shelf};
use godel_console::output::Output;
use godel_console::{Error, Result};
use godel_settings::Environment;

/// What is read from a file or stdin at most: more than any text of a bead may have.
const TEXT_MAX_BYTES: u64 = 1024 * 1024;

/// What commands need that work on a repository.
#[derive(Debug)]
pub struct Desk {
    /// Where to write.
    pub(crate) output: Output,
    /// The environment.
    pub(crate) environment: Environment,
    from: PathBuf,
    by: Option<String>,
}

impl Desk {
    /// Sits down in the current directory.
    pub fn new(environment: Environment, output: Output) -> Result<Self> {
        let from = std::env::current_dir()
            .map_err(|cause| Error::file("the current directory", "found", cause))?;
        Ok(Self { output, environment, from, by: None })
    }

    /// Moves to another directory.
    pub fn at(self, directory: &Path) -> Self {
        Self { from: self.from.join(directory), ..self }
    }

    /// Acts under a name, if one was given.
    pub(crate) fn under(self, who: Who) -> Self {
        Self { by: who.by, ..self }
    }

    /// Opens the shelf of the repository.
    pub fn shelf(&self) -> Result<Shelf> {
        Ok(Shelf::open(&self.from)?)
    }

    /// Returns the name of whoever acts: given, set, as git knows it, or as the system does.
    pub(crate) fn name(&self, shelf: &Shelf) -> String {
        let known = self.agent().or_else(|| shelf.person()).or_else(|| self.variable("USER"));
        known.unwrap_or_else(|| "somebody".to_owned())
    }

    /// Returns the name that was given or set.
    pub(crate) fn agent(&self) -> Option<String> {
        self.by.clone().or_else(|| self.variable("GODEL_AGENT"))
    }

    /// Makes a change under the name of whoever acts.
    pub fn write<T: Send + 'static>(
        &self,
        shelf: &mut Shelf,
        work: impl Fn(&mut Draft<'_>) -> godel_beads::Result<T> + Send + 'static,
    ) -> Result<T> {
        let by = godel_beads::ops::check_agent(&self.name(shelf))?;
        let done = shelf.write(&by, work)?;
        self.keep_up(shelf);
        Ok(done)
    }

    /// Starts upkeep if it is due, in a process of its own that nobody waits for.
    pub(crate) fn keep_up(&self, shelf: &Shelf) {
        if !shelf.upkeep_due() {
            return;
        }
        let Ok(program) = std::env::current_exe() else { return };
        let mut upkeep = Command::new(program);
        upkeep.args(["bead", "maintain"]).current_dir(&self.from).process_group(0);
        // The next write tries again.
        upkeep.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
    }

    /// Returns a variable of the environment that is set.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(str::to_owned)
    }

    /// Reads a text that was given as an argument; `-` stands for stdin.
    pub fn text(&self, given: &str) -> Result<String> {
        if given == "-" { self.file("-") } else { Ok(given.to_owned()) }
    }

    /// Reads a text from a file; `-` stands for stdin.
    pub(crate) fn file(&self, path: &str) -> Result<String> {
        let text = self.read(Path::new(path), TEXT_MAX_BYTES)?;
        // The newline at the end belongs to the pipe or the editor.
        Ok(text.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Reads a file up to a size; `-` stands for stdin.
    pub fn read(&self, path: &Path, max: u64) -> Result<String> {
        let mut bytes = Vec::new();
        let (shown, read) = if path == Path::new("-") {
            ("stdin".to_owned(), io::stdin().lock().take(max + 1).read_to_end(&mut bytes))
        } else {
            let file = std::fs::File::open(path);
            let read = file.and_then(|file| file.take(max + 1).read_to_end(&mut bytes));
            (path.display().to_string(), read)
        };
        read.map_err(|cause| Error::file(&shown, "read", cause))?;
        if bytes.len() as u64 > max {
            let message = format!("{shown} has more than {}", godel_console::measure::bytes(max));
            return Err(Error::usage(message, "give less of it"));
        }
        String::from_utf8(bytes).map_err(|_| {
            Error::usage(format!("{shown} is not text in UTF-8"), "convert it, with iconv perhaps")
        })
    }

    /// Returns the whole name of a commit, as git sees it from here.
    pub(crate) fn commit(&self, name: &str) -> Result<String> {
        let missing = || godel_beads::Error::NotFound { what: "commit", name: name.to_owned() };
        if name.starts_with('-') {
            return Err(missing().into());
        }
        let asked = ["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")];
        let output = crate::own_git::ask(&self.from, &asked)?;
        if !output.status.success() {
            return Err(missing().into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}
