//! What is kept of a sandbox on disk, so that it is found again after a crash.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::at;
use crate::{Error, Result, Sandbox, SpawnSpec};

const FILE: &str = "record.json";
const RECORD_MAX_BYTES: u64 = 1 << 20;

/// What is kept of a sandbox; never the values of its variables.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) sandbox: Sandbox,
    pub(super) spec: SpawnSpec,
    pub(super) created_at: Timestamp,
    pub(super) ends_at: Option<Timestamp>,
    /// What the workspace took before the agent came.
    pub(super) disk_before: u64,
    /// Whether the files are measured and given to the agent; nothing runs before that.
    #[serde(default = "yes")]
    pub(super) settled: bool,
}

/// What was made before this was told is settled.
const fn yes() -> bool {
    true
}

impl Record {
    /// Writes the record: all of it or nothing. It is on disk when this returns, but for one that is
    /// not settled: nothing of worth is in such a sandbox.
    pub(super) fn save(&self, state: &Path) -> Result<()> {
        let (path, scratch) = (state.join(FILE), state.join("record.new"));
        let bytes = serde_json::to_vec(self)
            .map_err(|error| Error::file(&path, "written", error.into()))?;
        let written = File::create(&scratch).and_then(|mut file| {
            file.write_all(&bytes)?;
            if self.settled { file.sync_all() } else { Ok(()) }
        });
        written.map_err(at(&scratch, "written"))?;
        fs::rename(&scratch, &path).map_err(at(&path, "written"))?;
        if !self.settled {
            return Ok(());
        }
        File::open(state).and_then(|dir| dir.sync_all()).map_err(at(state, "synced"))
    }

    /// Reads the record; nothing if there is none that can be read.
    pub(super) fn load(state: &Path) -> Option<Self> {
        let path = state.join(FILE);
        let size = fs::metadata(&path).ok()?.len();
        if size > RECORD_MAX_BYTES {
            return None;
        }
        serde_json::from_slice(&fs::read(&path).ok()?).ok()
    }
}
