//! Watches what a sandbox uses while something runs in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::family;
use super::measure::{Measured, measure};
use super::room::Room;
use crate::Limit;

const TICK: Duration = Duration::from_millis(200);
/// Measuring a disk may take at most this part of the time, and happens this often at most.
const MEASURE_SHARE: u32 = 100;
const MEASURE_PAUSE: Duration = Duration::from_secs(1);
/// Unless this part of the limit went from the disk meanwhile.
const HASTE_SHARE: u64 = 4;

/// Watches a sandbox until nothing runs in it.
pub(super) async fn watch(room: Arc<Room>) {
    let mut crowded = false;
    let mut next_measure = Instant::now();
    let mut free_then = 0;
    let haste = room.record().spec.limits.disk_bytes / HASTE_SHARE;
    loop {
        tokio::time::sleep(TICK).await;
        let free = free(&room);
        if Instant::now() >= next_measure || free.saturating_add(haste) < free_then {
            let before = Instant::now();
            check_disk(&room).await;
            next_measure = Instant::now() + (before.elapsed() * MEASURE_SHARE).max(MEASURE_PAUSE);
            free_then = free;
        }
        check_processes(&room, &mut crowded).await;
        if room.all().is_empty() {
            room.watched.store(false, Ordering::SeqCst);
            // Somebody may have come between the two lines, and seen that we were there.
            if room.all().is_empty() || room.watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}

/// The room that is left where an agent can write.
fn free(room: &Room) -> u64 {
    let left = |path: &Path| {
        rustix::fs::statvfs(path).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
    };
    left(room.record().spec.source.directory()).saturating_add(left(&room.state))
}

/// The directories that an agent can fill.
pub(super) fn places(room: &Room) -> Vec<PathBuf> {
    let workspace = room.record().spec.source.directory().clone();
    vec![workspace, room.home(), room.scratch(), room.state.join("git")]
}

/// Measures the disk; true if it is too full.
pub(super) async fn check_disk(room: &Arc<Room>) -> bool {
    let record = room.record();
    let places = places(room);
    let measured = tokio::task::spawn_blocking(move || {
        measure(&places.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    });
    let Measured { bytes, opaque } = measured.await.unwrap_or_default();
    let grown = bytes.saturating_sub(record.disk_before);
    let most = record.spec.limits.disk_bytes;
    let over = grown > most || opaque;
    let was = room.full.swap(over, Ordering::SeqCst);
    if over && !(was && room.all().is_empty()) {
        let detail = if opaque {
            "there is a directory that cannot be looked into".to_owned()
        } else {
            format!("{grown} of {most} bytes are used")
        };
        room.end_all(Limit::Disk);
        if !was {
            room.tell_limit(Limit::Disk, detail);
        }
    }
    over
}

async fn check_processes(room: &Arc<Room>, seen_crowded: &mut bool) {
    let limits = room.record().spec.limits;
    *seen_crowded |= room.tell_hits();
    if room.groups.counts() {
        return;
    }
    let heads: Vec<u32> = room.all().iter().map(|running| running.pid).collect();
    let weighed = tokio::task::spawn_blocking(move || {
        let family: Vec<u32> = heads.iter().flat_map(|pid| family::descendants(*pid)).collect();
        family::weigh(&family)
    });
    let (bytes, tasks) = weighed.await.unwrap_or_default();
    if bytes > limits.memory_bytes && !room.groups.has_memory() {
        room.end_all(Limit::Memory);
        let most = limits.memory_bytes;
        room.tell_limit(Limit::Memory, format!("{bytes} of {most} bytes are used"));
    }
    // Where the kernel does not count refusals, a full house is the sign.
    let crowded = tasks >= limits.processes;
    if crowded && !*seen_crowded {
        let most = limits.processes;
        room.tell_limit(Limit::Processes, format!("{tasks} of {most} processes run"));
    }
    *seen_crowded |= crowded;
}
