//! Watches what a sandbox uses while something runs in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::family;
use super::measure::{Measured, measure};
use super::room::Room;
use crate::Limit;

const TICK: Duration = Duration::from_millis(200);
/// Measuring a disk may take at most this part of the time.
const MEASURE_SHARE: u32 = 20;

/// What was seen at the last look.
struct Seen {
    memory_hits: u64,
    process_hits: u64,
    crowded: bool,
}

/// Watches a sandbox until nothing runs in it.
pub(super) async fn watch(room: Arc<Room>) {
    let mut seen = Seen {
        memory_hits: room.groups.memory_hits(),
        process_hits: room.groups.process_hits(),
        crowded: false,
    };
    let mut next_measure = Instant::now();
    loop {
        tokio::time::sleep(TICK).await;
        if Instant::now() >= next_measure {
            let before = Instant::now();
            check_disk(&room).await;
            next_measure = Instant::now() + before.elapsed() * MEASURE_SHARE;
        }
        check_processes(&room, &mut seen).await;
        if room.all().is_empty() {
            room.watched.store(false, Ordering::SeqCst);
            // Somebody may have come between the two lines, and seen that we were there.
            if room.all().is_empty() || room.watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
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

async fn check_processes(room: &Arc<Room>, seen: &mut Seen) {
    let limits = room.record().spec.limits;
    let hits = room.groups.memory_hits();
    if hits > seen.memory_hits {
        seen.memory_hits = hits;
        let most = limits.memory_bytes;
        room.tell_limit(Limit::Memory, format!("a process was ended; {most} bytes may be used"));
    }
    let hits = room.groups.process_hits();
    if hits > seen.process_hits {
        seen.process_hits = hits;
        let most = limits.processes;
        room.tell_limit(Limit::Processes, format!("no more than {most} processes may run"));
        seen.crowded = true;
    }
    let heads: Vec<u32> = room.all().iter().map(|running| running.pid).collect();
    let weighed = tokio::task::spawn_blocking(move || {
        let family: Vec<u32> = heads.iter().flat_map(|pid| family::descendants(*pid)).collect();
        family::weigh(&family)
    });
    let (bytes, tasks) = weighed.await.unwrap_or_default();
    if !room.groups.has_memory() && bytes > limits.memory_bytes {
        room.end_all(Limit::Memory);
        let most = limits.memory_bytes;
        room.tell_limit(Limit::Memory, format!("{bytes} of {most} bytes are used"));
    }
    // Where the kernel does not count refusals, a full house is the sign.
    let crowded = tasks >= limits.processes;
    if crowded && !seen.crowded {
        let most = limits.processes;
        room.tell_limit(Limit::Processes, format!("{tasks} of {most} processes run"));
    }
    seen.crowded = seen.crowded || crowded;
}
