//! Whether a SQLite file is sound, before and while it is used.

use std::path::Path;
use std::time::Duration;

use godel_sound::{Checker, Damage};

use crate::{Durability, Error, Result};

/// How long a start waits until the file was looked at; a large one is looked at further beside all else.
const PATIENCE: Duration = Duration::from_secs(2);

/// Looks whether a SQLite file is sound; its log only if nobody uses it.
///
/// # Errors
/// If it is damaged, or cannot be read.
pub fn soundness(path: &Path, in_use: bool) -> Result<()> {
    if !in_use {
        log(path, Durability::Full)?;
    }
    let found = godel_sound::check(path).map_err(|cause| Error::sqlite("soundness", cause))?;
    found.map_or(Ok(()), |why| Err(Error::Corrupt(why)))
}

/// Looks at a file that nobody uses yet; there is nothing to see in a new one.
pub(super) fn begin(path: &Path, durability: Durability) -> Result<Option<Checker>> {
    if !path.metadata().is_ok_and(|file| file.len() > 0) {
        return Ok(None);
    }
    log(path, durability)?;
    let checker = Checker::start(path, PATIENCE);
    let checker = checker.map_err(|cause| Error::sqlite("soundness", cause))?;
    vouch(&checker.damage())?;
    Ok(Some(checker))
}

/// Refuses a log that has lost something: SQLite would go on with the rest, without a word.
pub(super) fn log(path: &Path, durability: Durability) -> Result<()> {
    let relaxed = durability == Durability::Relaxed;
    let found = godel_sound::log(path, relaxed);
    let found = found.map_err(|cause| Error::File { path: path.to_owned(), cause })?;
    found.map_or(Ok(()), |why| Err(Error::Corrupt(why)))
}

/// Refuses a file in which damage was found.
pub(super) fn vouch(damage: &Damage) -> Result<()> {
    damage.get().map_or(Ok(()), |why| Err(Error::Corrupt(why.clone())))
}
