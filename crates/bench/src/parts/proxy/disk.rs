//! How long the disk itself takes for what one commit of the ledger writes: no request can be faster.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use crate::error::{Result, Told as _};
use crate::stats::Samples;
use crate::table::Row;

/// As much as a commit with one request writes.
const COMMIT_BYTES: usize = 16 * 1024;
const COMMITS: u64 = 1_000;
/// A log of this size is written again from its start, as that of SQLite is.
const LOG_BYTES: u64 = 4 * 1024 * 1024;

/// Writes as the ledger does, without a ledger.
pub(super) fn measure(folder: &Path) -> Result<Vec<Row>> {
    let path = folder.join("disk");
    let file = File::create(&path).told("make a file")?;
    file.write_all_at(&vec![0; LOG_BYTES as usize], 0).told("write a file")?;
    file.sync_all().told("sync a file")?;
    let page = vec![7; COMMIT_BYTES];
    let mut took = Vec::new();
    for commit in 0..COMMITS {
        let start = Instant::now();
        let at = commit * COMMIT_BYTES as u64 % LOG_BYTES;
        file.write_all_at(&page, at).and_then(|()| file.sync_data()).told("sync a file")?;
        took.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    let samples = Samples::new(took);
    let name = |percent: u32| format!("16 KiB written and synced by nobody else, p{percent}");
    Ok(vec![
        Row::told(name(50), samples.millis(50.0), "ms"),
        Row::told(name(99), samples.millis(99.0), "ms"),
    ])
}
