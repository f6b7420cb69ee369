//! Consent: what a repository asks for runs only after somebody on this machine agreed.
//!
//! `trust.json` in the user's state directory maps a repository to the hash of the `[worktree]`
//! section that was agreed to. It is not kept in the repository, which could bring its own along.

use std::collections::BTreeMap;
use std::path::Path;

use godel_model::code;
use serde::{Deserialize, Serialize};

use crate::config::{Settings, TEAM_FILE, Wanted};
use crate::disk::{self, Lock};
use crate::error::{Error, Result};

#[derive(Debug, Default, Serialize, Deserialize)]
struct Trusted {
    repositories: BTreeMap<String, String>,
}

fn key(repository: &Path) -> String {
    repository.to_string_lossy().into_owned()
}

/// Refuses unless what the committed file wants was agreed to.
pub(crate) fn check(state: &Path, repository: &Path, settings: &Settings) -> Result<()> {
    let Some(wanted) = &settings.wanted else {
        return Ok(());
    };
    let trusted: Trusted = disk::read_json(&state.join("trust.json"))?.unwrap_or_default();
    if trusted.repositories.get(&key(repository)) == Some(&wanted.digest) {
        return Ok(());
    }
    Err(Error::refused(
        code::SETUP_UNTRUSTED,
        format!("{TEAM_FILE} of this repository wants to {}", wanted.words.join(", and to ")),
        "read it, then agree with `godel worktree trust`; or do without, with --no-setup",
    ))
}

/// Remembers that what the committed file wants was agreed to.
pub(crate) fn agree(state: &Path, repository: &Path, wanted: &Wanted) -> Result<()> {
    disk::private_dir(state)?;
    let _lock = Lock::take(&state.join("trust.lock"), "what is trusted")?;
    let path = state.join("trust.json");
    let mut trusted: Trusted = disk::read_json(&path)?.unwrap_or_default();
    trusted.repositories.insert(key(repository), wanted.digest.clone());
    disk::write_json(&path, &trusted)
}
