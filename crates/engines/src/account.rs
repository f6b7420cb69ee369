//! The operating system account that a server runs as.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Engine, Error};

/// Tried in this order; the first is made by the PostgreSQL packages, the second is everywhere.
const NAMES: [&str; 2] = ["postgres", "nobody"];

/// Another account, used because root must not (PostgreSQL) or should not (Redis) serve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// Chooses the account for `engine`: none unless this process is root.
    pub(crate) fn choose(engine: Engine) -> Result<Option<Self>, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        NAMES
            .into_iter()
            .find_map(Self::named)
            .map(Some)
            .ok_or_else(|| Error::NoAccount { engine, tried: NAMES.join(" nor ") })
    }

    fn named(name: &str) -> Option<Self> {
        Some(Self { uid: ask_id("-u", name)?, gid: ask_id("-g", name)? })
    }

    /// Gives `path` to this account.
    pub(crate) fn own(self, path: &Path) -> Result<(), Error> {
        chown(path, Some(self.uid), Some(self.gid)).map_err(Error::io("give away", path))
    }

    /// Makes `command` run as this account; root's further groups are dropped with it.
    pub(crate) fn run(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }
}

/// `id` knows every source of accounts, not only `/etc/passwd`.
fn ask_id(flag: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([flag, name]).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
