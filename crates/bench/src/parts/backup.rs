//! `backup`: how fast everything is written into a file and comes back, and what writers feel of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use godel_model::{Clock as _, SystemClock};
use godel_store::backup::write_blocking;

use super::{Bench, database};
use crate::error::{Error, Result, Told as _};
use crate::events::Log;
use crate::process::Process;
use crate::stats::median;
use crate::table::Row;

const EVENTS: usize = 100_000;
const MANY: usize = 10 * EVENTS;
const ROUNDS: usize = 5;
const WRITERS: usize = 64;
const ROUND_EACH: usize = 200;
const POLL: Duration = Duration::from_millis(2);

/// What a run of the program took.
struct Cost {
    seconds: f64,
    /// The most memory it ever held.
    peak_mb: f64,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let few = bench.stocked("backup", EVENTS).await?;
    let many = bench.stocked("backup-many", MANY).await?;
    let file = bench.folder("backup.file");
    let mut costs = Vec::new();
    for round in 0..ROUNDS {
        let backup = run(bench, &["backup", "--force"], &few, &file)?;
        let target = bench.folder(&format!("backup-restored-{round}"));
        let restore = run(bench, &["restore"], &target, &file)?;
        costs.push((backup, restore));
    }
    let stored = size(&database(&few))?;
    let packed = size(&file)?;
    let large = run(bench, &["backup", "--force"], &many, &file)?;
    let target = bench.folder("backup-restored-many");
    let large_restore = run(bench, &["restore"], &target, &file)?;
    let slow = slow_down(&few).await?;
    let backup = median(costs.iter().map(|(backup, _)| backup.seconds));
    let restore = median(costs.iter().map(|(_, restore)| restore.seconds));
    let peak = median(costs.iter().map(|(backup, _)| backup.peak_mb));
    let mut rows = Vec::new();
    for (what, seconds) in [("backup with its check", backup), ("restore with its checks", restore)]
    {
        rows.push(Row::told(format!("{what}, 100,000 events"), seconds * 1e3, "ms"));
        rows.push(Row::told(format!("{what}, events"), EVENTS as f64 / seconds, "/s"));
        rows.push(Row::told(format!("{what}, of the database"), stored / seconds / 1e6, "MB/s"));
    }
    rows.extend([
        Row::told("size of the backup, ratio to the database", packed / stored, "x"),
        Row::told("time of a backup of 10 times the data, ratio", large.seconds / backup, "x"),
        Row::told("restore of 1,000,000 events", large_restore.seconds, "s"),
        Row::told("most memory of a backup, 100,000 events", peak, "MB"),
        Row::told("most memory of a backup, 1,000,000 events", large.peak_mb, "MB"),
        Row::told("most memory of a restore, 1,000,000 events", large_restore.peak_mb, "MB"),
        Row::told("append rate of 64 writers during backups, ratio", slow, "x"),
    ]);
    Ok(rows)
}

fn size(path: &Path) -> Result<f64> {
    let found = std::fs::metadata(path).told(format_args!("look at {}", path.display()))?;
    Ok(found.len() as f64)
}

/// Runs the program on a data directory and a backup, to its end.
fn run(bench: &Bench, words: &[&str], data: &Path, file: &Path) -> Result<Cost> {
    let mut command = Command::new(&bench.program);
    command.args(words).arg(file).arg("--data").arg(data);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GODEL_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let mut process = Process::start(&mut command)?;
    let mut peak_mb = 0.0;
    loop {
        if let Ok(peak) = process.peak_bytes() {
            peak_mb = peak as f64 / 1e6;
        }
        if let Some(status) = process.child.try_wait().told("wait for the program")? {
            let seconds = start.elapsed().as_secs_f64();
            if status.success() {
                return Ok(Cost { seconds, peak_mb });
            }
            return Err(Error::new(format!("godel {} failed: {status}", words.join(" "))));
        }
        std::thread::sleep(POLL);
    }
}

/// Returns the append rate while backups run one after the other, as a part of the rate without.
async fn slow_down(folder: &Path) -> Result<f64> {
    let path = database(folder);
    let log = Log::open_file(&path).await?;
    log.append_together(WRITERS, ROUND_EACH).await?;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let alone = rate(&log).await?;
        let stop = Arc::new(AtomicBool::new(false));
        let backups = tokio::task::spawn_blocking({
            let (stop, log, sink) = (Arc::clone(&stop), log.clone(), path.with_extension("beside"));
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let file = std::fs::File::create(&sink).told("make a file")?;
                    write_blocking(log.store.url(), SystemClock.now(), file).told("back up")?;
                }
                Ok::<_, Error>(())
            }
        });
        let beside = rate(&log).await?;
        stop.store(true, Ordering::Relaxed);
        backups.await.told("finish a backup")??;
        ratios.push(beside / alone);
    }
    log.close().await;
    Ok(median(ratios))
}

async fn rate(log: &Log) -> Result<f64> {
    let start = Instant::now();
    log.append_together(WRITERS, ROUND_EACH).await?;
    Ok((WRITERS * ROUND_EACH) as f64 / start.elapsed().as_secs_f64())
}
