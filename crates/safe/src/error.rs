//! Why the safe could not be used.

use std::path::PathBuf;

use godel_model::{Code, Report, code};

/// What the safe returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the safe could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be used.
    #[error("{} could not be used: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The master key can be read by others.
    #[error("{} can be read by other users of this machine", .0.display())]
    OpenMasterKey(PathBuf),
    /// The file with the master key holds something else.
    #[error("{} does not hold a master key", .0.display())]
    BadMasterKey(PathBuf),
    /// The master key is not there, and the database needs it.
    #[error("the master key {needed} is not in {}", path.display())]
    NoMasterKey {
        /// Which one is needed.
        needed: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A use case failed.
    #[error(transparent)]
    App(#[from] godel_app::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] godel_store::Error),
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::File { .. } => code::FILE_FAILED,
            Self::OpenMasterKey(_) | Self::BadMasterKey(_) | Self::NoMasterKey { .. } => {
                code::MASTER_KEY_WRONG
            }
            Self::App(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::File { .. } => Some("choose a directory you may write to with --data".to_owned()),
            Self::OpenMasterKey(path) => Some(format!("run: chmod 600 {}", path.display())),
            Self::BadMasterKey(_) | Self::NoMasterKey { .. } => Some(
                "copy master.key from the server that made the database (or from where you keep \
                 it), or set GODEL_MASTER_KEY"
                    .to_owned(),
            ),
            Self::App(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}
