//! Health: real probes of what the server needs.

use std::path::Path;
use std::time::{Duration, Instant};

use godel_decide::{Health, Verdict, overall};
use godel_model::Report as _;

use crate::App;

/// How long a probe may take before it counts as failed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// A round trip to the database above this is not as it should be.
const SLOW: Duration = Duration::from_millis(500);
const DISK_LOW_BYTES: u64 = 1024 * 1024 * 1024;
const DISK_OUT_BYTES: u64 = 100 * 1024 * 1024;

/// What one probe found.
#[derive(Debug, Clone)]
pub struct Probe {
    /// What was probed.
    pub name: &'static str,
    /// How it is doing.
    pub verdict: Verdict,
    /// How long the probe took.
    pub latency: Duration,
    /// What is wrong, or worth knowing.
    pub message: Option<String>,
    /// Free space, for the disk.
    pub free_bytes: Option<u64>,
}

/// What all probes found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The whole.
    pub health: Health,
    /// The parts.
    pub probes: Vec<Probe>,
}

/// Probes everything, at the same time.
pub async fn probe(app: &App, data_dir: &Path) -> Findings {
    let place = app.store.directory().unwrap_or_else(|| data_dir.to_owned());
    let (database, redis, disk) = tokio::join!(database(app), redis(app), disk(&place));
    let all = [Some(database), redis, Some(disk), backup(app)];
    let probes: Vec<Probe> = all.into_iter().flatten().collect();
    Findings { health: overall(probes.iter().map(|probe| probe.verdict)), probes }
}

/// Probes the database.
pub async fn database(app: &App) -> Probe {
    let start = Instant::now();
    let answer = tokio::time::timeout(PROBE_TIMEOUT, app.store.probe()).await;
    let (health, message) = match answer {
        Err(_) => (Health::Unhealthy, Some("the database does not answer".to_owned())),
        Ok(Err(error)) => (Health::Unhealthy, Some(format!("{error} ({})", error.code()))),
        Ok(Ok(probe)) if !probe.durable => (
            Health::Degraded,
            Some("relaxed mode: a power cut may lose answered writes".to_owned()),
        ),
        Ok(Ok(probe)) if probe.latency > SLOW => {
            (Health::Degraded, Some("the database is slow".to_owned()))
        }
        Ok(Ok(_)) => (Health::Healthy, None),
    };
    let verdict = Verdict { health, essential: true };
    Probe { name: "database", verdict, latency: start.elapsed(), message, free_bytes: None }
}

async fn redis(app: &App) -> Option<Probe> {
    let hints = app.hints.as_ref()?;
    let start = Instant::now();
    let (health, message) = match tokio::time::timeout(PROBE_TIMEOUT, hints.probe()).await {
        Ok(Ok(_)) => (Health::Healthy, None),
        Ok(Err(_)) | Err(_) => (
            Health::Degraded,
            Some("redis does not answer; rate limits are not shared between servers".to_owned()),
        ),
    };
    let verdict = Verdict { health, essential: false };
    Some(Probe { name: "redis", verdict, latency: start.elapsed(), message, free_bytes: None })
}

/// Looks how old the newest backup is, if the server makes them by schedule.
fn backup(app: &App) -> Option<Probe> {
    let start = Instant::now();
    let (health, message) = app.backups.health(app.clock.now())?;
    let verdict = Verdict { health, essential: false };
    Some(Probe { name: "backup", verdict, latency: start.elapsed(), message, free_bytes: None })
}

async fn disk(data_dir: &Path) -> Probe {
    let start = Instant::now();
    let path = data_dir.to_owned();
    let stat = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&path));
    let stat = tokio::time::timeout(PROBE_TIMEOUT, stat).await.ok().and_then(Result::ok);
    let free = stat.and_then(Result::ok).map(|stat| stat.f_bavail * stat.f_frsize);
    let (health, message) = match free {
        None => (Health::Degraded, Some("the free space is not known".to_owned())),
        Some(free) if free < DISK_OUT_BYTES => {
            (Health::Unhealthy, Some("the disk is almost full".to_owned()))
        }
        Some(free) if free < DISK_LOW_BYTES => {
            (Health::Degraded, Some("the disk has less than 1 GiB left".to_owned()))
        }
        Some(_) => (Health::Healthy, None),
    };
    let verdict = Verdict { health, essential: true };
    Probe { name: "disk", verdict, latency: start.elapsed(), message, free_bytes: free }
}
