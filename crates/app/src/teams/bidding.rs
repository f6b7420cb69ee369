//! What a team bids its run do. The bidding is an alarm that is set with the change of the team
//! itself, so that a crash in between only delays it; the run then does as the team stands, whatever
//! was said in between.

use godel_decide::team::{Bounds, TeamState, bounds};
use godel_decide::workflow::{Input, RunState};
use godel_model::{RunId, TaskState, TenantId};
use godel_store::{Alarm, News, RunRecord, Scope, Tx};
use jiff::Timestamp;

use super::{cost, read, state};
use crate::workflows::{AS_TEAM, Loaded, Move, RUN, WorkflowError, move_on};
use crate::{App, Error, Result};

/// Has the run of a team do as the team says, in the transaction that changes the team.
pub(super) fn bid(
    tx: &mut Tx<'_>,
    run: Option<RunId>,
    now: Timestamp,
) -> godel_store::Result<Option<(RunId, Alarm)>> {
    let Some(run) = run else { return Ok(None) };
    let at = tx.clock(now)?;
    let alarm =
        Alarm { kind: RUN.to_owned(), owner: run.to_string(), what: AS_TEAM.to_owned(), at };
    tx.runs().set_alarm(&alarm)?;
    Ok(Some((run, alarm)))
}

/// Lets the run hear at once what it was bidden, so that who asks next sees it.
pub(super) async fn heard(
    app: &App,
    tenant: TenantId,
    bidden: Option<(RunId, Alarm)>,
) -> Result<()> {
    let Some((run, alarm)) = bidden else { return Ok(()) };
    match move_on(app, tenant, run, Move::Alarms(vec![alarm])).await {
        // One that ended long ago is gone.
        Err(Error::Workflow(WorkflowError::NoRun(_))) => Ok(()),
        other => other,
    }
}

/// Tells what the run of a team has to do, as the team stands.
pub(crate) async fn wanted(
    app: &App,
    tenant: TenantId,
    (run, now): (&RunRecord, Timestamp),
) -> Result<Vec<Input>> {
    let Some(id) = run.team else { return Ok(Vec::new()) };
    let find = move |tx: &mut Tx<'_>| tx.workflows().team(id);
    let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
    let Some(team) = found else { return Ok(vec![Input::Cancel]) };
    let doc = read(&team)?;
    let stands = state(&team);
    if stands.is_final() || doc.run != Some(run.id) {
        return Ok(vec![Input::Cancel]);
    }
    let spec = &doc.current;
    // The clock of a shared database may differ from that of this server.
    let left = spec.deadline.map(|deadline| deadline.duration_since(app.clock.now()));
    let at = left.map(|left| now.checked_add(left).unwrap_or(Timestamp::MAX));
    let mut inputs = Vec::new();
    if run.state == RunState::Pending.as_str() {
        inputs.push(Input::Start);
    }
    inputs.push(if stands == TeamState::Paused { Input::Pause } else { Input::Resume });
    inputs.push(Input::Scale { max_concurrency: spec.size });
    inputs.push(Input::Deadline { at });
    Ok(inputs)
}

/// Tells whether news of a run say that the budget of its team is spent, so that nothing new begins
/// before the team is judged.
pub(crate) async fn spends_all(
    app: &App,
    tenant: TenantId,
    loaded: &Loaded,
    news: &[News],
) -> Result<bool> {
    let Some(id) = loaded.record.team else { return Ok(false) };
    let more = news
        .iter()
        .filter(|one| one.state == TaskState::Succeeded)
        .filter_map(|one| serde_json::from_str(one.result.as_deref()?).ok())
        .map(|output| cost(&output))
        .fold(0, i64::saturating_add);
    if more == 0 {
        return Ok(false);
    }
    let find = move |tx: &mut Tx<'_>| tx.workflows().team(id);
    let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
    let Some(team) = found else { return Ok(false) };
    let doc = read(&team)?;
    let spent = doc.spent_with(&loaded.run).saturating_add(more);
    Ok(bounds(&doc.current, spent, app.clock.now()) == Bounds::BudgetSpent)
}
