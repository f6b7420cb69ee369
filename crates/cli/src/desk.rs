//! What commands need that work on a repository: no server, no settings, no data directory.

use std::io::{self, Read as _};
use std::path::PathBuf;

use godel_beads::{Draft, Shelf};

use crate::args::local::Who;
use crate::context::Environment;
use crate::error::{Error, Result};
use crate::output::Output;

/// What is read from a file or stdin at most: more than any text of a bead may have.
const TEXT_MAX_BYTES: u64 = 1024 * 1024;

/// What commands need that work on a repository.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Where to write.
    pub(crate) output: Output,
    environment: Environment,
    from: PathBuf,
    by: Option<String>,
}

impl Desk {
    /// Sits down in the current directory.
    pub(crate) fn new(environment: Environment, output: Output) -> Result<Self> {
        let from = std::env::current_dir()
            .map_err(|cause| Error::file("the current directory", "found", cause))?;
        Ok(Self { output, environment, from, by: None })
    }

    /// Acts under a name, if one was given.
    pub(crate) fn under(self, who: Who) -> Self {
        Self { by: who.by, ..self }
    }

    /// Opens the shelf of the repository.
    pub(crate) fn shelf(&self) -> Result<Shelf> {
        Ok(Shelf::open(&self.from)?)
    }

    /// Returns the name of whoever acts: given, set, as git knows it, or as the system does.
    pub(crate) fn name(&self, shelf: &Shelf) -> String {
        let known = self.by.clone().or_else(|| self.variable("GODEL_AGENT"));
        let known = known.or_else(|| shelf.person()).or_else(|| self.variable("USER"));
        known.unwrap_or_else(|| "somebody".to_owned())
    }

    /// Makes a change under the name of whoever acts.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        shelf: &mut Shelf,
        work: impl Fn(&mut Draft<'_>) -> godel_beads::Result<T> + Send + 'static,
    ) -> Result<T> {
        let by = godel_beads::ops::check_agent(&self.name(shelf))?;
        Ok(shelf.write(&by, work)?)
    }

    /// Returns a variable of the environment that is set.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(str::to_owned)
    }

    /// Reads a text that was given as an argument; `-` stands for stdin.
    pub(crate) fn text(&self, given: &str) -> Result<String> {
        if given == "-" { self.file("-") } else { Ok(given.to_owned()) }
    }

    /// Reads a text from a file; `-` stands for stdin.
    pub(crate) fn file(&self, path: &str) -> Result<String> {
        let mut bytes = Vec::new();
        let shown = if path == "-" { "stdin" } else { path };
        let read = match path {
            "-" => io::stdin().lock().take(TEXT_MAX_BYTES + 1).read_to_end(&mut bytes),
            path => std::fs::File::open(path)
                .and_then(|file| file.take(TEXT_MAX_BYTES + 1).read_to_end(&mut bytes)),
        };
        read.map_err(|cause| Error::file(shown, "read", cause))?;
        if bytes.len() as u64 > TEXT_MAX_BYTES {
            let message = format!("{shown} is too long for a text");
            return Err(Error::usage(message, "keep it in the repository and name it here"));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::usage(format!("{shown} is not text in UTF-8"), "convert it"))?;
        // The newline at the end belongs to the pipe or the editor.
        Ok(text.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Returns the whole name of a commit, as git sees it from here.
    pub(crate) fn commit(&self, name: &str) -> Result<String> {
        let spec = format!("{name}^{{commit}}");
        let mut git = std::process::Command::new("git");
        git.args(["rev-parse", "--verify", "--quiet", "--end-of-options", &spec]);
        let output = git.current_dir(&self.from).output();
        let output = output.map_err(|cause| Error::file("git", "run", cause))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(godel_beads::Error::NotFound { what: "commit", name: name.to_owned() }.into())
    }
}
