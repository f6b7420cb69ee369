//! Dead letters: tasks that were tried as often as allowed.

use godel_model::{Reach, TaskId, TaskState};
use godel_store::{Before, Found, TaskFilter, Tx};
use jiff::Timestamp;
use serde::Serialize;
use tracing::instrument;
use uuid::Uuid;

use super::tasks::replay;
use super::tell::{Author, Teller};
use super::{QueueError, tally};
use crate::{App, Call, Error, Result};

/// How many are put back in one transaction.
const AT_ONCE: usize = 200;

/// Which dead letters are meant.
#[derive(Debug, Clone, Default)]
pub struct DeadFilter {
    /// Only those of this pool.
    pub pool: Option<String>,
    /// Only those whose last error has this in it.
    pub error: Option<String>,
    /// Only those with this in the title.
    pub title: Option<String>,
}

impl DeadFilter {
    fn matches(&self, found: &Found) -> bool {
        let has = |text: &str, part: &Option<String>| {
            part.as_ref().is_none_or(|part| text.contains(part.as_str()))
        };
        has(found.error.as_deref().unwrap_or_default(), &self.error)
            && has(&found.task.asked.title, &self.title)
    }

    fn tasks(&self) -> TaskFilter {
        TaskFilter { state: Some(TaskState::Dead), pool: self.pool.clone(), owner: None }
    }
}

/// Lists dead letters, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.dead.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    filter: DeadFilter,
    (before, limit): (Option<TaskId>, usize),
) -> Result<Vec<Found>> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read_long(call.scope(), move |tx: &mut Tx<'_>| {
        let (mut found, mut before) = (Vec::new(), before);
        while found.len() < limit {
            let page = tx.tasks().page(&filter.tasks(), before, AT_ONCE)?;
            let Some(last) = page.last() else { break };
            before = Some(last.task.id);
            found.extend(page.into_iter().filter(|one| filter.matches(one)));
        }
        found.truncate(limit);
        Ok::<_, Error>(found)
    });
    read.await
}

/// Puts dead letters back, all that a filter matches; returns how many.
///
/// # Errors
/// If the caller may not, or the database fails; what was put back until then stays so.
#[instrument(level = "debug", name = "app.dead.replay", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn replay_all(app: &App, call: &Call, filter: DeadFilter) -> Result<u64> {
    call.may("task", "update", Reach::Team)?;
    let (mut replayed, mut before) = (0, None);
    loop {
        let (app_, call_, filter_) = (app.clone(), call.clone(), filter.clone());
        let now = app.clock.now();
        let work = move |tx: &mut Tx<'_>| {
            let now = tx.clock(now)?;
            tx.tasks().lock_graph(true)?;
            let name = Some(call_.actor.name.clone());
            let author = Author { name, trace_id: call_.trace_id.clone() };
            let teller = Teller { mint: app_.mint, now, author: &author };
            let page = tx.tasks().page(&filter_.tasks(), before, AT_ONCE)?;
            let mut count = 0;
            for found in page.iter().filter(|found| filter_.matches(found)) {
                count += u64::from(replay(tx, found, teller)?);
            }
            Ok::<_, Error>((count, page.last().map(|last| last.task.id)))
        };
        let (count, last) = tally::write(app, call.actor.tenant, work).await?;
        replayed += count;
        app.desks.of(call.actor.tenant).wake();
        let Some(last) = last else { return Ok(replayed) };
        before = Some(last);
    }
}

/// What is told of a dead letter that is removed.
#[derive(Serialize)]
struct Deleted<'a> {
    task: TaskId,
    attempt: u32,
    pool: &'a str,
    title: &'a str,
}

/// Removes a dead letter with its attempts, for good. Only time does that by itself, and not before 7 days.
///
/// # Errors
/// If the caller may not, there is none, it is no dead letter, or its run may still come back to it.
#[instrument(level = "debug", name = "app.dead.delete", skip_all, fields(tenant = %call.actor.tenant, task = %id))]
pub async fn delete(app: &App, call: &Call, id: TaskId) -> Result<()> {
    call.may("task", "delete", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        tx.tasks().lock_graph(true)?;
        let found = tx.tasks().find(id)?.ok_or(QueueError::NoTask(id))?;
        if found.state != TaskState::Dead {
            return Err(Error::Queue(QueueError::TaskNotDead(id, found.state)));
        }
        drop_one(tx, id)?;
        let told = Deleted {
            task: id,
            attempt: found.attempt,
            pool: found.task.asked.pool.as_str(),
            title: &found.task.asked.title,
        };
        call_.tell(&app_, tx, call_.event(&app_, "task:deleted", &told, ("taskId", id)))
    };
    tally::write(app, call.actor.tenant, work).await
}

/// Removes one task that is dead, whenever it died, unless something that is not over depends on it.
fn drop_one(tx: &mut Tx<'_>, id: TaskId) -> Result<()> {
    // Of all that are over, the first one behind the id before it: none comes between.
    let before = TaskId::from_uuid(Uuid::from_u128(id.uuid().as_u128().saturating_sub(1)));
    let ended = Before { dead: Timestamp::MAX, others: Timestamp::MIN };
    let looked = tx.attic().tasks(ended, before, 1)?;
    if looked.next != Some(id) {
        // Time removed it at this moment; whatever was looked at instead stays as it is.
        return Err(Error::Queue(QueueError::NoTask(id)));
    }
    if looked.removed == 0 {
        return Err(Error::Queue(QueueError::TaskNeeded(id)));
    }
    Ok(())
}
