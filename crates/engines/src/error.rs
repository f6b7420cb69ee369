//! What can go wrong when a private server is found, started or steered.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// One of the servers this crate can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The PostgreSQL database server.
    Postgres,
    /// The Redis server.
    Redis,
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Postgres => "PostgreSQL",
            Self::Redis => "Redis",
        })
    }
}

/// A failure to find, start or steer a private server; [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No binaries of the engine were found.
    #[error("{engine} was not found on this machine")]
    NotFound {
        /// The engine that was looked for.
        engine: Engine,
    },
    /// Root was to start a server, and there is no other account to run it as.
    #[error("no account to run {engine} as: root may not, and neither {tried} exists")]
    NoAccount {
        /// The engine that was to run.
        engine: Engine,
        /// The account names that were tried.
        tried: String,
    },
    /// A file or folder could not be used.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A program could not be run at all.
    #[error("could not run {}", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A helper program ran and failed.
    #[error("{} ended with {status}: {output}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it said.
        output: String,
    },
    /// The server ended before it was ready.
    #[error("{engine} ended with {status} while starting: {log}")]
    Ended {
        /// The engine.
        engine: Engine,
        /// How it ended.
        status: ExitStatus,
        /// The end of its log.
        log: String,
    },
    /// The server did not become ready in time.
    #[error("{engine} was not ready after {seconds} s: {log}")]
    TooSlow {
        /// The engine.
        engine: Engine,
        /// How long it was waited for.
        seconds: u64,
        /// The end of its log.
        log: String,
    },
    /// The server was to be steered and is not running.
    #[error("{engine} is not running")]
    NotRunning {
        /// The engine.
        engine: Engine,
    },
}

impl Error {
    /// Says what to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound { engine: Engine::Postgres } => {
                "run `cargo xtask test`, which gets it, or install it: `sudo apt-get install postgresql`"
            }
            Self::NotFound { engine: Engine::Redis } => {
                "run `cargo xtask test`, which gets it, or install it: `sudo apt-get install redis-server`"
            }
            Self::NoAccount { .. } => "run as an ordinary user, or create the account `postgres`",
            Self::Io { .. } | Self::Failed { .. } => {
                "see that the temporary folder has space and that every account may enter it (TMPDIR chooses another)"
            }
            Self::Run { .. } => "see that the program is there and may be run",
            Self::Ended { .. } => "the end of its log says why",
            Self::TooSlow { .. } => "the machine may be overloaded: try again when it is quiet",
            Self::NotRunning { .. } => "start it again with `restart` first",
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
