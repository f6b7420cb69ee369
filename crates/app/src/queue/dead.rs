//! Dead letters: tasks that were tried as often as allowed.

use godel_model::{Reach, TaskId, TaskState};
use godel_store::{Found, TaskFilter, Tx};
use tracing::instrument;

use super::tally;
use super::tasks::replay;
use super::tell::{Author, Teller};
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
