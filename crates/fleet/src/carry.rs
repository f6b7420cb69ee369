//! Carrying snapshots from one server to another.
//!
//! # Invariants
//! - A file is looked at as something that anybody may have written, and all of it before any of it is kept.
//! - The row comes last: what a server leaves behind that is killed before has no name, and is swept.
//! - A file brings no rights: not out of the walls, and not to hosts.

mod export;
mod import;

use std::path::{Path, PathBuf};

use godel_agents::tree::Node;
use godel_runtime::{SnapshotId, parcel};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::export::{Download, export};
pub use self::import::{Imported, Incoming, receive};
use crate::slips::Likeness;
use crate::{Fleet, Result};

/// How large a file may be.
pub const FILE_MAX_BYTES: u64 = 8 << 30;
/// How many files come in at once; the next one waits.
pub(crate) const INCOMING_MAX: usize = 4;
/// Where files are that are not whole yet, below the data directory; what is left there goes at the next start.
pub const FOLDER: &str = "carry";

/// What a file says about an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    /// What the agent was called.
    label: String,
    /// The bead that it worked on, where it was.
    bead: String,
    /// When the snapshot was taken.
    taken_at: Timestamp,
    /// The commit that the branch was at.
    commit: Option<String>,
    /// The digest of the list of files.
    files: SnapshotId,
    /// What an agent is like that goes on from here.
    like: Likeness,
    /// What was said, from the first to the last.
    nodes: Vec<Node>,
}

/// Removes what a server left behind that was killed.
pub(crate) fn clear(data: &Path) {
    // What cannot be removed takes room, and does no harm.
    let _ = std::fs::remove_dir_all(data.join(FOLDER));
}

/// A file that goes away with this value.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    /// Names a file that nobody else uses, in a folder that nobody else can read.
    async fn new(fleet: &Fleet) -> Result<Self> {
        let folder = fleet.own.settings.data.join(FOLDER);
        let made = tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).await;
        made.map_err(parcel::failed(&folder))?;
        let name = fleet.app().mint.id::<godel_model::EventId>().to_string();
        Ok(Self(folder.join(name)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Does something on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| crate::Error::Store(godel_store::Error::Panicked))?
}
