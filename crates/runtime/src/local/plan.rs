//! What the helper inside of a sandbox is told. It is an argument, so it holds no secret.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The steps before bubblewrap or, without walls, before the program itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outer {
    /// The process that asked for it; nothing runs for one that is gone. An older server, whose program was
    /// replaced while it runs, does not say.
    #[serde(default)]
    pub(crate) owner: Option<u32>,
    /// Files of control groups that are told the process.
    pub(crate) groups: Vec<PathBuf>,
    /// Limits of the process, if no inner step sets them.
    pub(crate) ceilings: Option<Ceilings>,
    /// Whether its input is a terminal that it shall own, if no inner step sees to it.
    #[serde(default)]
    pub(crate) terminal: bool,
}

/// The steps inside of the walls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inner {
    /// What the owner holds a lock on while it lives, if its end is not noticed otherwise.
    pub(crate) owner: Option<PathBuf>,
    /// Who the program runs as, if the helper is root.
    pub(crate) user: Option<u32>,
    /// Paths that may be written to.
    pub(crate) writable: Vec<PathBuf>,
    /// Ways out.
    pub(crate) relays: Vec<Relay>,
    /// Limits of each process.
    pub(crate) ceilings: Ceilings,
    /// Whether its input is a terminal that it shall own.
    #[serde(default)]
    pub(crate) terminal: bool,
    /// The port that whoever comes in is led to, if its input is where they come in.
    #[serde(default)]
    pub(crate) serves: Option<u16>,
}

/// What the first process of a container does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct First {
    /// Ways out.
    pub(crate) relays: Vec<Relay>,
}

/// A port in the sandbox that leads to a socket of Godel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Relay {
    /// The port on the sandbox's own loopback.
    pub(crate) port: u16,
    /// The socket.
    pub(crate) socket: PathBuf,
}

/// Limits that the kernel keeps for each process or user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ceilings {
    /// Processes of the user.
    pub(crate) processes: Option<u64>,
    /// Open files of a process.
    pub(crate) open_files: Option<u64>,
    /// The size of one file.
    pub(crate) file_bytes: Option<u64>,
    /// The memory of one process.
    pub(crate) memory_bytes: Option<u64>,
}
