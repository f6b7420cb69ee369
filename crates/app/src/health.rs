//! Health: real probes of what the server needs.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use godel_decide::{DiskMarks, Health, Verdict, overall};
use godel_model::{Need, Reach, Report as _};
use tracing::instrument;

use crate::{App, Call, Error, Result};

/// How long a probe may take before it counts as failed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// A round trip to the database above this is not as it should be.
const SLOW: Duration = Duration::from_millis(500);

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
#[instrument(level = "debug", name = "app.health.probe", skip_all)]
pub async fn probe(app: &App, data_dir: &Path) -> Findings {
    let place = app.store.directory().unwrap_or_else(|| data_dir.to_owned());
    let (database, redis, disk) =
        tokio::join!(database(app), redis(app), disk(&place, app.config.disk));
    let all = [Some(database), redis, Some(disk), backup(app), models(app)];
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
        // Anybody may read this, so it names nobody.
        Ok(Ok(_)) if app.held.load(Ordering::Relaxed) => (
            Health::Degraded,
            Some("somebody holds on to an old state; `godel doctor` tells who".to_owned()),
        ),
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

/// Tells which providers of models are failing; nothing before one was asked.
fn models(app: &App) -> Option<Probe> {
    let start = Instant::now();
    let providers = app.switchboard.providers();
    if providers.is_empty() {
        return None;
    }
    let down: Vec<String> = providers
        .into_iter()
        .filter(|provider| provider.state == "down")
        .map(|provider| provider.provider)
        .collect();
    let (health, message) = match down.is_empty() {
        true => (Health::Healthy, None),
        false => (Health::Degraded, Some(format!("these providers fail: {}", down.join(", ")))),
    };
    let verdict = Verdict { health, essential: false };
    Some(Probe { name: "models", verdict, latency: start.elapsed(), message, free_bytes: None })
}

async fn disk(data_dir: &Path, marks: DiskMarks) -> Probe {
    let start = Instant::now();
    let path = data_dir.to_owned();
    let stat = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&path));
    let stat = tokio::time::timeout(PROBE_TIMEOUT, stat).await.ok().and_then(Result::ok);
    let free = stat.and_then(Result::ok).map(|stat| stat.f_bavail * stat.f_frsize);
    let health = marks.judge(free);
    let message = match health {
        Health::Healthy => None,
        _ if free.is_none() => Some("the free space is not known".to_owned()),
        Health::Degraded => {
            Some(format!("the disk has less than {} MiB left", marks.low_bytes / 1024 / 1024))
        }
        Health::Unhealthy => Some("the disk is almost full".to_owned()),
    };
    let verdict = Verdict { health, essential: true };
    Probe { name: "disk", verdict, latency: start.elapsed(), message, free_bytes: free }
}

/// Lets those in who may see how the whole server is doing, which is not the business of tenants
/// that only share it.
///
/// # Errors
/// If the caller may not.
pub fn may_see_server(call: &Call) -> Result<()> {
    call.may("metric", "read", Reach::Team)?;
    if call.actor.home {
        return Ok(());
    }
    Err(Error::Forbidden(Need { resource: "metric", action: "read", reach: Reach::All }))
}
