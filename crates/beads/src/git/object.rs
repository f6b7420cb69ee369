//! Reading objects while packs are being put together.

use std::time::Duration;

use gix::ObjectId;

use crate::{Error, Result};

/// How long is waited before each further look.
const PAUSES_MS: [u64; 4] = [0, 2, 10, 50];

/// Returns the bytes of an object.
///
/// Upkeep, of this process or another, may replace packs while a list of them is read: an object is
/// missing only if somebody who comes anew does not find it either.
pub(crate) fn read(repository: &gix::Repository, id: ObjectId) -> Result<Vec<u8>> {
    let mut missing = match repository.find_object(id) {
        Ok(object) => return Ok(object.detach().data),
        Err(cause) => cause,
    };
    for pause in PAUSES_MS {
        std::thread::sleep(Duration::from_millis(pause));
        let fresh = gix::open_opts(repository.git_dir(), repository.open_options().clone());
        let fresh = fresh.map_err(|cause| Error::git("opened", cause))?;
        match fresh.find_object(id) {
            Ok(object) => return Ok(object.detach().data),
            Err(cause) => missing = cause,
        }
    }
    Err(Error::git("read", missing))
}
