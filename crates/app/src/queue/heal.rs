//! What is done when a worker fails at a task that another one should try next.

use godel_decide::team::{AgentFailure, FailureKind, Remedy, remedy};
use godel_model::{AttemptEnd, Lane, PoolName, RunId, TenantId, WorkerId};
use godel_store::{Alarm, Error as StoreError, Found, Lease, Result, Scope, Tx};
use jiff::Timestamp;

use super::tell::{Author, More, Teller};
use super::{lanes, tally};
use crate::{App, workflows};

/// How many lines that are closed to somebody are looked at together.
const LINES_AT_ONCE: usize = 1_000;
/// How an alarm begins that tells a team why its work does not go on.
pub(crate) const STUCK: &str = "stuck:";

/// Lets a task that failed and is tried again be tried by another worker, if it wants that and
/// there is one who is able. If there is none, it waits for anybody, and its team is told.
pub(super) fn heal(
    tx: &mut Tx<'_>,
    found: &Found,
    lease: &Lease,
    (how, now): (AttemptEnd, Timestamp),
) -> Result<()> {
    let asked = &found.task.asked;
    let lane = &lease.spot.lane;
    if !lane.is_plain() {
        // It may have been opened again while the task ran.
        tx.lanes().note(lane)?;
    }
    if !asked.retry.elsewhere || how == AttemptEnd::Released || lane.is_of_worker() {
        return Ok(());
    }
    let home = lane.without(&[]);
    let failed = failed_at(tx, found)?;
    let able: Vec<WorkerId> = tx
        .workers()
        .active(&asked.pool)?
        .into_iter()
        .filter(|(_, able)| home.is_open_to(able))
        .map(|(worker, _)| worker)
        .collect();
    // That it may be tried again is decided already.
    let failure =
        AgentFailure { kind: FailureKind::Agent, attempts: 0, failed: &failed, able: &able };
    let (next, why) = match remedy(failure, &asked.retry) {
        Remedy::Replace { exclude } => (home.without(&exclude), None),
        Remedy::Park { why } => (home, Some(why)),
        Remedy::Retry | Remedy::GiveUp { .. } => (home, None),
    };
    if next != *lane && (next.is_plain() || lanes::has_room(tx, &next)?) {
        tx.tasks().assign(found.task.id, &next)?;
    }
    match why {
        Some(why) => tell_team(tx, found, &why, now),
        None => Ok(()),
    }
}

/// Lists who failed at a task since it was last put back, those who failed last behind.
fn failed_at(tx: &mut Tx<'_>, found: &Found) -> Result<Vec<WorkerId>> {
    let bad = [AttemptEnd::Failed, AttemptEnd::Timeout, AttemptEnd::Lost];
    let attempts = tx.tasks().attempts(found.task.id)?;
    let ended = attempts
        .into_iter()
        .filter(|attempt| attempt.ended.is_some_and(|(_, ended)| bad.contains(&ended)));
    Ok(ended.map(|attempt| attempt.worker).collect())
}

/// Leaves word for the team whose task it is.
fn tell_team(tx: &mut Tx<'_>, found: &Found, why: &str, now: Timestamp) -> Result<()> {
    let owner = found.task.asked.owner.as_ref().filter(|owner| owner.kind == workflows::RUN);
    let Some(run) = owner.and_then(|owner| owner.id.parse::<RunId>().ok()) else { return Ok(()) };
    let Some(team) = tx.runs().by_id(run)?.and_then(|run| run.team) else { return Ok(()) };
    let what = format!("{STUCK}{}: {why}", found.task.asked.title);
    tx.runs().set_alarm(&Alarm { kind: "team".to_owned(), owner: team.to_string(), what, at: now })
}

/// Lets tasks that only others were to try be tried by anybody, where no other is left.
pub(super) async fn reopen(app: &App) -> crate::Result<()> {
    let barring = app.store.read(Scope::System, |tx| tx.lanes().barring(LINES_AT_ONCE));
    for (tenant, pool, lane) in barring.await.map_err(crate::Error::Store)? {
        let (pool_, lane_) = (pool.clone(), lane.clone());
        let look = app.store.read(Scope::Tenant(tenant), move |tx| is_open(tx, &pool_, &lane_));
        if !look.await.map_err(crate::Error::Store)? {
            open(app, tenant, (pool, lane)).await?;
        }
    }
    Ok(())
}

/// Tells whether anybody who takes tasks can have what is in a line.
fn is_open(tx: &mut Tx<'_>, pool: &PoolName, lane: &Lane) -> Result<bool> {
    let workers = tx.workers().active(pool)?;
    Ok(workers.iter().any(|(id, able)| lane.is_open_to(able) && !lane.bars(*id)))
}

async fn open(app: &App, tenant: TenantId, (pool, lane): (PoolName, Lane)) -> crate::Result<()> {
    let (mint, now) = (app.mint, app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        tx.tasks().lock_graph(true)?;
        if is_open(tx, &pool, &lane)? {
            return Ok(());
        }
        let author = Author::default();
        let teller = Teller { mint, now, author: &author };
        for spot in tx.tasks().unassign(&lane)? {
            tx.lanes().note(&spot.lane)?;
            teller.tell(tx, "task:unassigned", &spot, &More::default())?;
        }
        Ok::<_, StoreError>(())
    };
    tally::write(app, tenant, work).await?;
    app.desks.of(tenant).wake();
    Ok(())
}
