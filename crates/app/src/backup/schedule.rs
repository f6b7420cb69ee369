//! Backups by schedule: a file now and then, and the oldest ones go.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use godel_decide::{surplus, until_backup};
use godel_model::Report as _;
use godel_store::backup::{BackupFile, Contents, write_blocking};
use godel_store::{DatabaseUrl, Error as StoreError};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{App, Crew, Error, Result};

/// How long to wait after a failure, unless the interval is shorter.
const RETRY_MAX: SignedDuration = SignedDuration::from_mins(1);
/// From when on an unfinished file is one that a crash left behind.
const LEFT_OVER_AGE: SignedDuration = SignedDuration::from_hours(24);
const TIME: &str = "%Y%m%dT%H%M%S%.3fZ";

/// Where, how often, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The directory; it is made if it is not there.
    pub dir: PathBuf,
    /// The time from the beginning of one backup to that of the next.
    pub every: SignedDuration,
    /// How many are kept.
    pub keep: usize,
}

impl Schedule {
    fn path(&self, at: Timestamp) -> PathBuf {
        self.dir.join(format!("godel-{}.backup", at.strftime(TIME)))
    }

    /// Returns the backups in the directory, oldest first.
    fn backups(&self) -> io::Result<Vec<(Timestamp, PathBuf)>> {
        self.files(".backup")
    }

    fn files(&self, end: &str) -> io::Result<Vec<(Timestamp, PathBuf)>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found: Vec<(Timestamp, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let time = name.strip_prefix("godel-")?.strip_suffix(end)?;
                Some((made_at(time)?, entry.path()))
            })
            .collect();
        found.sort();
        Ok(found)
    }

    /// Removes the oldest backups, and what crashes left behind.
    fn prune(&self, now: Timestamp) -> io::Result<()> {
        let backups = self.backups()?;
        for (_, path) in surplus(&backups, self.keep) {
            std::fs::remove_file(path)?;
        }
        let left_over = self.files(".backup.part")?;
        let old = left_over.iter().filter(|(at, _)| now.duration_since(*at) > LEFT_OVER_AGE);
        old.map(|(_, path)| path).try_for_each(std::fs::remove_file)
    }
}

/// Reads the time in the name of a backup.
fn made_at(text: &str) -> Option<Timestamp> {
    let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%.fZ", text).ok()?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Makes one backup and checks it; only then do the oldest ones go.
///
/// # Errors
/// If the database or the disk fails; then no backup was removed.
pub async fn run_once(
    app: &App,
    schedule: &Schedule,
    stopping: &CancellationToken,
) -> Result<Contents> {
    let (url, at) = (app.store.url().clone(), app.clock.now());
    let (own, stop, start) = (schedule.clone(), stopping.clone(), Instant::now());
    let work = tokio::task::spawn_blocking(move || make(&url, &own, at, stop));
    let made = work.await.unwrap_or(Err(StoreError::Panicked));
    let mut state = app.backups.state();
    match made {
        Ok(contents) => {
            state.numbers.made += 1;
            state.numbers.newest = Some(at);
            state.numbers.bytes = contents.bytes;
            state.numbers.seconds = start.elapsed().as_secs_f64();
            state.failure = None;
            Ok(contents)
        }
        Err(error) => {
            if !stopping.is_cancelled() {
                state.numbers.failed += 1;
                // No path and no cause: everybody may see the health.
                state.failure = Some(error.code().to_string());
            }
            Err(Error::Store(error))
        }
    }
}

fn make(
    url: &DatabaseUrl,
    schedule: &Schedule,
    at: Timestamp,
    stop: CancellationToken,
) -> Result<Contents, StoreError> {
    make_private_dir(&schedule.dir)?;
    let mut sink = Stoppable { file: BackupFile::create(&schedule.path(at), false)?, stop };
    write_blocking(url, at, &mut sink)?;
    let contents = sink.file.finish()?;
    // The new one is good, whatever becomes of the old ones.
    if let Err(error) = schedule.prune(at) {
        tracing::warn!(%error, dir = %schedule.dir.display(), "old backups were not removed");
    }
    Ok(contents)
}

fn make_private_dir(dir: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|cause| StoreError::File { path: dir.to_owned(), cause })
}

/// A file that takes no more when the server stops.
struct Stoppable {
    file: BackupFile,
    stop: CancellationToken,
}

impl Write for Stoppable {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("the server is stopping"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Makes backups by schedule, until the crew stops.
pub fn start(app: &App, crew: &Crew, schedule: Schedule) {
    let (app, stopping) = (app.clone(), crew.stopping());
    {
        let newest = schedule.backups().ok().and_then(|backups| backups.last().cloned());
        let mut state = app.backups.state();
        state.plan = Some((schedule.every, app.clock.now()));
        state.numbers.newest = newest.map(|(at, _)| at);
    }
    crew.spawn(async move {
        let mut wait = {
            let newest = app.backups.state().numbers.newest;
            until_backup(schedule.every, newest, app.clock.now())
        };
        loop {
            let pause = Duration::try_from(wait).unwrap_or_default();
            tokio::select! {
                () = stopping.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let begun = app.clock.now();
            wait = match run_once(&app, &schedule, &stopping).await {
                Ok(contents) => {
                    let (rows, bytes) = (contents.all_rows(), contents.bytes);
                    tracing::info!(rows, bytes, "a backup was made and checked");
                    until_backup(schedule.every, Some(begun), app.clock.now())
                }
                Err(_) if stopping.is_cancelled() => return,
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(%error, code = %error.code(), ?cause, "a backup failed");
                    schedule.every.min(RETRY_MAX)
                }
            };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_when_the_backup_was_begun() {
        let schedule = Schedule { dir: "/x".into(), every: SignedDuration::from_mins(5), keep: 3 };
        let at: Timestamp = "2026-01-15T10:30:00.250Z".parse().unwrap();
        let path = schedule.path(at);
        assert_eq!(path, Path::new("/x/godel-20260115T103000.250Z.backup"));
        assert_eq!(made_at("20260115T103000.250Z"), Some(at));
        for foreign in ["", "mine", "20260115", "20260115T103000.250Z.old"] {
            assert_eq!(made_at(foreign), None, "{foreign}");
        }
    }
}
