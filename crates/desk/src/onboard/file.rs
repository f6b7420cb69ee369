//! `godel.toml` of a repository that has none: the least that is useful, with words for the rest.

use std::io::Write as _;
use std::path::Path;

use godel_console::{Error, Result};
use serde::Serialize;

use super::machine::Machine;
use super::trial::Trial;

/// The name of the file.
pub(super) const NAME: &str = "godel.toml";

/// What became of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It was not there.
    Made,
    /// It was there.
    Kept,
    /// A bare repository has no files of its own.
    None,
}

impl State {
    /// Says it.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Made => "godel.toml, made with comments for what else can be set",
            Self::Kept => "godel.toml was there and is as it was",
            Self::None => "none: a bare repository has no files of its own",
        }
    }
}

/// Tells whether the file is there, and refuses one that could not be understood.
pub(super) fn is_there(root: &Path) -> Result<bool> {
    let path = root.join(NAME);
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            godel_agents::gates::Gates::read(&text)?;
            Ok(true)
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(Error::file(&path.display(), "read", cause)),
    }
}

/// Writes the file as a whole, or not at all; one that came in between stays.
pub(super) fn write(root: &Path, text: &str) -> Result<()> {
    let path = root.join(NAME);
    let failed = |cause| Error::file(&path.display(), "written", cause);
    let mut file = tempfile::NamedTempFile::new_in(root).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(mode).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist_noclobber(&path).map_err(|error| failed(error.error)).map(drop)
}

/// Makes the text.
pub(super) fn text(
    machine: &Machine,
    tests: Option<&Trial>,
    branch: &str,
    usual: Option<&str>,
) -> String {
    let gate = match tests {
        None => "# test = \"make test\"\n".to_owned(),
        Some(tests) => {
            let line = format!("test = {}\n", quoted(&tests.command));
            let off = "# It failed when it was tried in a fresh copy. Take the # away once it passes.\n# ";
            if tests.passed == Some(false) { format!("{off}{line}") } else { line }
        }
    };
    let target = match usual {
        Some(usual) => format!("# target = \"{usual}\"\n"),
        None if matches!(branch, "main" | "master") => format!("# target = \"{branch}\"\n"),
        None => format!("target = {}\n", quoted(branch)),
    };
    let programs: Vec<&str> = machine.agents.iter().map(|agent| agent.name).collect();
    let found = match programs.as_slice() {
        [] => String::new(),
        programs => format!(" Found on the machine that made this file: {}.", programs.join(", ")),
    };
    format!(
        "# How Godel works in this repository.\n\
         \n\
         # What finished work must pass before anybody believes it: commands for the shell.\n\
         [gates]\n\
         {gate}\
         \n\
         [project]\n\
         # Who lets work land: person, agent (a reviewer), or auto (the gates are enough).\n\
         review = \"person\"\n\
         # The branch that work begins from and lands in.\n\
         {target}\
         \n\
         [agents]\n\
         # How many may be at work at a time.\n\
         max = 4\n\
         # Who does the work: native (built in), claude, codex, gemini, opencode, pi, acp or command.{found}\n\
         # harness = \"native\"\n\
         # model = \"claude-sonnet-5\"\n\
         \n\
         # [landing]\n\
         # how = \"merge\"      # or squash, or rebase\n\
         # push = \"origin\"    # where to push what has landed\n"
    )
}

/// Puts a text in quotes, as TOML wants it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use godel_agents::gates::{Gates, Review};

    use super::*;

    fn machine() -> Machine {
        Machine { agents: Vec::new(), keys: Vec::new(), walls_missing: None }
    }

    #[test]
    fn what_is_written_is_understood() {
        let trial = |passed| Trial::of("sh \"my tests.sh\"", passed);
        let passed = text(&machine(), Some(&trial(Some(true))), "main", Some("main"));
        let read = Gates::read(&passed).unwrap();
        assert_eq!(read.gates[0].run, "sh \"my tests.sh\"");
        assert_eq!((read.review, read.agents.max, read.target), (Review::Person, Some(4), None));
        let unknown = text(&machine(), Some(&trial(None)), "main", None);
        assert_eq!(Gates::read(&unknown).unwrap().gates.len(), 1);
        let failed = text(&machine(), Some(&trial(Some(false))), "trunk", None);
        let read = Gates::read(&failed).unwrap();
        assert_eq!((read.gates.len(), read.target.as_deref()), (0, Some("trunk")));
        assert!(failed.contains("# test = \"sh \\\"my tests.sh\\\"\""), "{failed}");
        let nothing = Gates::read(&text(&machine(), None, "trunk", Some("main"))).unwrap();
        assert_eq!((nothing.gates.len(), nothing.target), (0, None));
    }

    #[test]
    fn what_is_commented_out_is_understood_too() {
        let shown = text(&machine(), None, "main", None);
        let all: String = shown
            .lines()
            .map(|line| {
                let bare = line.strip_prefix("# ").unwrap_or(line);
                let is_setting = bare.starts_with('[') || bare.contains(" = ");
                format!("{}\n", if is_setting { bare } else { line })
            })
            .collect();
        let read = Gates::read(&all).unwrap_or_else(|error| panic!("{error}\n{all}"));
        assert_eq!(
            (read.gates[0].run.as_str(), read.target.as_deref()),
            ("make test", Some("main"))
        );
        assert_eq!(read.landing.push.as_deref(), Some("origin"));
    }
}
