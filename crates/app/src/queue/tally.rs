//! Counts what happens to tasks, for Prometheus: once it is on disk, from what was told of it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use godel_model::{TaskPriority, TenantId};
use godel_store::{Error as StoreError, Logged, Scope, Tx};
use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};
use serde::Deserialize;
use tokio::sync::Notify;

use crate::App;

const QUEUED: &str = "godel_tasks_queued_total";
const CLAIMS: &str = "godel_task_claims_total";
const ENDED: &str = "godel_tasks_ended_total";
const RETRIES: &str = "godel_task_retries_total";
const LOST: &str = "godel_task_leases_lost_total";
const TIMEOUTS: &str = "godel_task_timeouts_total";
const REPLAYS: &str = "godel_task_replays_total";
const WORKERS_LOST: &str = "godel_workers_lost_total";
const ALERTS: &str = "godel_queue_alerts_total";
/// How long tasks were ready before a worker had them.
pub const PICKUP: &str = "godel_task_pickup_seconds";
/// How long attempts that succeeded took.
pub const DURATION: &str = "godel_task_duration_seconds";

/// The metrics, found once: to find them costs more than to count.
struct Counted {
    queued: [Counter; 4],
    claims: [Counter; 4],
    pickup: [Histogram; 4],
    duration: [Histogram; 4],
    succeeded: Counter,
    dead: Counter,
    cancelled: Counter,
    retries: Counter,
    lost: Counter,
    timeouts: Counter,
    replays: Counter,
    workers_lost: Counter,
    alerts: Counter,
}

static COUNTED: OnceLock<Counted> = OnceLock::new();

/// Says what the metrics mean, and begins to count; the recorder of this process is there already.
pub fn describe() {
    describe_counter!(QUEUED, "tasks that were added, by priority");
    describe_counter!(CLAIMS, "attempts that were handed out, by priority");
    describe_counter!(ENDED, "tasks that ended, by outcome; those that are dead are dead letters");
    describe_counter!(RETRIES, "attempts that failed or were lost and are followed by another");
    describe_counter!(LOST, "attempts that ended because their worker fell silent");
    describe_counter!(TIMEOUTS, "attempts that took longer than allowed");
    describe_counter!(REPLAYS, "tasks that were put back after they had ended");
    describe_counter!(WORKERS_LOST, "workers that fell silent");
    describe_counter!(ALERTS, "alerts of the queue and of teams, as many as there are events");
    describe_histogram!(PICKUP, Unit::Seconds, "time from ready to handed out, by priority");
    describe_histogram!(DURATION, Unit::Seconds, "time of attempts that succeeded, by priority");
    let all = TaskPriority::ALL.map(TaskPriority::as_str);
    COUNTED.get_or_init(|| Counted {
        queued: all.map(|priority| counter!(QUEUED, "priority" => priority)),
        claims: all.map(|priority| counter!(CLAIMS, "priority" => priority)),
        pickup: all.map(|priority| histogram!(PICKUP, "priority" => priority)),
        duration: all.map(|priority| histogram!(DURATION, "priority" => priority)),
        succeeded: counter!(ENDED, "outcome" => "succeeded"),
        dead: counter!(ENDED, "outcome" => "dead"),
        cancelled: counter!(ENDED, "outcome" => "cancelled"),
        retries: counter!(RETRIES),
        lost: counter!(LOST),
        timeouts: counter!(TIMEOUTS),
        replays: counter!(REPLAYS),
        workers_lost: counter!(WORKERS_LOST),
        alerts: counter!(ALERTS),
    });
}

/// What is read of an event; the rest is skipped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    #[serde(borrow)]
    priority: &'a str,
    waited_us: Option<i64>,
    took_us: Option<i64>,
}

impl Told<'_> {
    fn of(event: &Logged) -> Option<(usize, Told<'_>)> {
        let told: Told<'_> = serde_json::from_str(event.event.payload.as_str()).ok()?;
        let place = TaskPriority::ALL.iter().position(|one| one.as_str() == told.priority)?;
        Some((place, told))
    }
}

/// What has changed about dead letters since it was last looked at.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    graves: Mutex<HashSet<TenantId>>,
    /// Tenants for whom there may be something that other servers do not know of; none is noted as
    /// long as nobody wants to tell them.
    rung: Mutex<Option<HashSet<TenantId>>>,
    bell: Notify,
}

impl Tally {
    /// Takes in what one transaction of this server told.
    pub(crate) fn count(&self, tenant: TenantId, events: &[Arc<Logged>]) {
        let (counted, mut moved, mut brings) = (COUNTED.get(), false, false);
        for event in events {
            moved |= moves_dead(event);
            brings |= brings_work(event);
            // Without metrics, alerts are given all the same.
            if let Some(counted) = counted {
                counted.count(event);
            }
        }
        if moved {
            self.look_at(tenant);
        }
        if brings {
            self.ring(tenant);
        }
    }

    fn ring(&self, tenant: TenantId) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        if rung.as_mut().is_some_and(|rung| rung.insert(tenant)) {
            self.bell.notify_one();
        }
    }

    /// Waits until there is something that other servers do not know of.
    pub(super) async fn rings(&self) {
        self.bell.notified().await;
    }

    /// Returns for whom there is something since the last time, and notes it from now on.
    pub(super) fn take_rung(&self) -> Vec<TenantId> {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        rung.replace(HashSet::new()).unwrap_or_default().into_iter().collect()
    }

    /// Has the dead letters of a tenant looked at.
    pub(crate) fn look_at(&self, tenant: TenantId) {
        self.graves.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant);
    }

    /// Returns the tenants whose dead letters have changed since the last time.
    pub(super) fn take(&self) -> HashSet<TenantId> {
        std::mem::take(&mut *self.graves.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn moves_dead(event: &Logged) -> bool {
    matches!(event.event.kind.as_str(), "task:dead" | "task:replayed" | "task:deleted")
}

/// Events after which somebody who waits may get something.
pub(super) const BRINGERS: [&str; 6] = [
    "task:queued",
    "task:ready",
    "task:replayed",
    "task:released",
    "task:unassigned",
    "pool:resumed",
];

fn brings_work(event: &Logged) -> bool {
    BRINGERS.contains(&event.event.kind.as_str())
}

impl Counted {
    fn count(&self, event: &Logged) {
        match event.event.kind.as_str() {
            "task:queued" => {
                let Some((place, _)) = Told::of(event) else { return };
                add(&self.queued, place);
            }
            "task:started" => {
                let Some((place, told)) = Told::of(event) else { return };
                add(&self.claims, place);
                record(&self.pickup, place, told.waited_us);
            }
            "task:succeeded" => {
                self.succeeded.increment(1);
                let Some((place, told)) = Told::of(event) else { return };
                record(&self.duration, place, told.took_us);
            }
            "task:dead" => self.dead.increment(1),
            "task:cancelled" => self.cancelled.increment(1),
            "task:failed" | "task:lost" => self.retries.increment(1),
            "task:replayed" => self.replays.increment(1),
            "pool:alert" | "team:alert" => self.alerts.increment(1),
            _ => {}
        }
    }
}

fn add(counters: &[Counter; 4], place: usize) {
    if let Some(counter) = counters.get(place) {
        counter.increment(1);
    }
}

fn record(histograms: &[Histogram; 4], place: usize, micros: Option<i64>) {
    if let (Some(histogram), Some(micros)) = (histograms.get(place), micros) {
        histogram.record(micros.max(0) as f64 / 1e6);
    }
}

/// Counts a worker that fell silent, and the attempts that it had.
pub(super) fn fell_silent(attempts: usize) {
    if let Some(counted) = COUNTED.get() {
        counted.workers_lost.increment(1);
        counted.lost.increment(attempts as u64);
    }
}

/// Counts an attempt that took longer than allowed.
pub(super) fn timed_out() {
    if let Some(counted) = COUNTED.get() {
        counted.timeouts.increment(1);
    }
}

/// Carries out a transaction about tasks of a tenant, and counts what it told once it is on disk.
pub(crate) async fn write<T, E, F>(app: &App, tenant: TenantId, work: F) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
{
    let written = app.store.write(Scope::Tenant(tenant), work).await?;
    app.desks.tally().count(tenant, &written.events);
    Ok(written.value)
}
