//! How a team goes on: it is planned, its run is judged, and a simpler way is taken if it fails.

use std::sync::Arc;

use godel_decide::team::{Bounds, Finished, TeamPlan, TeamState, Verdict, bounds, fall_back, plan};
use godel_decide::workflow::{Fault, Input, NewRun, Plan, Run, RunState};
use godel_model::{RunId, TeamId, TenantId, UserId};
use godel_store::{Alarm, RunRecord, Scope, TeamRecord, Tx};
use jiff::Timestamp;
use serde_json::Map;

use super::{TeamDoc, exhausted, read, record, spent, state, tell_run, told, write};
use crate::queue::{Author, Teller, tally};
use crate::workflows::{RUN, WorkflowError, look_at, make};
use crate::{App, Error, Result};

/// Plans a team as it is to be done now, and lets the run of the plan begin.
pub(super) async fn begin(
    app: &App,
    tenant: TenantId,
    (team, mut doc): (TeamRecord, TeamDoc),
    rung: Option<Alarm>,
) -> Result<()> {
    let now = app.clock.now();
    let planned = plan(&doc.current, &doc.finished, now).map_err(WorkflowError::Team)?;
    if planned.definition.steps.is_empty() {
        return settle_at_once(app, tenant, (team, doc, planned), rung).await;
    }
    let needs = exhausted::needs(&planned);
    let (mut run, text) = new_run(app, planned, team.created_by, now)?;
    run.team = Some(team.id);
    (doc.planned_at, doc.run) = (Some(now), Some(run.id));
    let why = doc.fallbacks.last().cloned();
    let kind = if why.is_some() { "team:fallback" } else { "team:started" };
    let (mint, id) = (app.mint, team.id);
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        let alert = exhausted::nobody(tx, &needs)?;
        let doc = write(&TeamDoc { alert: alert.clone(), ..doc.clone() })?;
        let team = TeamRecord { doc, updated_at: now, ..team.clone() };
        if !tx.workflows().update_team(&team)? {
            return Err(Error::Workflow(WorkflowError::Changed(team.name.clone())));
        }
        if let Some(alarm) = &rung {
            tx.runs().drop_alarm(alarm)?;
        }
        tx.runs().insert(&run, None, &text)?;
        let (kind_, owner, what) = (RUN.to_owned(), run.id.to_string(), "start".to_owned());
        tx.runs().set_alarm(&Alarm { kind: kind_, owner, what, at: now })?;
        let author = Author::default();
        let teller = Teller { mint, now, author: &author };
        tx.record(teller.event(kind, &told(&team, why.as_deref()), ("teamId", id)))?;
        if let Some(alert) = alert {
            exhausted::raise(tx, &team, &alert, (mint, now))?;
        }
        Ok(())
    };
    tally::write(app, tenant, work).await?;
    app.desks.ring_news();
    Ok(())
}

/// Settles a team for which everything was done already.
async fn settle_at_once(
    app: &App,
    tenant: TenantId,
    (team, mut doc, planned): (TeamRecord, TeamDoc, TeamPlan),
    rung: Option<Alarm>,
) -> Result<()> {
    let nothing = Plan::new(planned.definition.clone()).map_err(WorkflowError::Problems)?;
    let asked = NewRun::top(app.mint.id(), Map::new());
    let mut run = Run::new(Arc::new(nothing), asked).map_err(WorkflowError::Inputs)?;
    run.apply(Input::Start, app.clock.now()).map_err(WorkflowError::Illegal)?;
    let (next, why) = match planned.verdict(&run) {
        Verdict::Done(result) => {
            doc.result = Some(result);
            (TeamState::Completed, None)
        }
        Verdict::Failed(fault) => (TeamState::Failed, Some(fault.message)),
        Verdict::Open => (TeamState::Failed, Some("nothing is left to be done".to_owned())),
    };
    doc.error.clone_from(&why);
    settle(app, tenant, (team, doc, next), (rung.as_ref(), why)).await
}

fn new_run(
    app: &App,
    planned: TeamPlan,
    by: UserId,
    now: Timestamp,
) -> Result<(RunRecord, String)> {
    make(planned.definition, NewRun::top(app.mint.id(), Map::new()), (by, now))
}

/// The alarm that lets a team be judged by its run.
pub(crate) fn run_alarm(team: TeamId, run: RunId, at: Timestamp) -> Alarm {
    Alarm { kind: "team".to_owned(), owner: team.to_string(), what: format!("run:{run}"), at }
}

/// Judges a team whose run has moved on.
///
/// # Errors
/// If the database fails.
pub(crate) async fn rang(app: &App, tenant: TenantId, alarms: Vec<Alarm>) -> Result<()> {
    for alarm in alarms {
        let Ok(id) = alarm.owner.parse::<TeamId>() else { continue };
        match judge(app, tenant, id, &alarm).await {
            Ok(()) => {}
            Err(Error::Store(error)) => return Err(Error::Store(error)),
            Err(error) => {
                tracing::warn!(%tenant, team = %id, %error, "a team could not be judged");
                forget(app, tenant, alarm).await?;
            }
        }
    }
    Ok(())
}

async fn forget(app: &App, tenant: TenantId, alarm: Alarm) -> Result<()> {
    let work = move |tx: &mut Tx<'_>| tx.runs().drop_alarm(&alarm).map(drop);
    app.store.write(Scope::Tenant(tenant), work).await?;
    Ok(())
}

/// What a look at the run of a team found.
struct Found {
    verdict: Verdict,
    finished: Finished,
    over: bool,
    spent: i64,
}

async fn judge(app: &App, tenant: TenantId, id: TeamId, alarm: &Alarm) -> Result<()> {
    let team = record(app, tenant, id).await?;
    if let Some(why) = exhausted::stuck(alarm) {
        return exhausted::alert(app, tenant, team, (alarm, why)).await;
    }
    let doc = read(&team)?;
    let meant = alarm.what.strip_prefix("run:").and_then(|run| run.parse::<RunId>().ok());
    let (Some(run), Some(planned_at)) = (doc.run.filter(|run| meant == Some(*run)), doc.planned_at)
    else {
        return forget(app, tenant, alarm.clone()).await;
    };
    if state(&team).is_final() {
        return forget(app, tenant, alarm.clone()).await;
    }
    let planned = plan(&doc.current, &doc.finished, planned_at).map_err(WorkflowError::Team)?;
    let found = look_at(app, tenant, run, |loaded| Found {
        verdict: planned.verdict(&loaded.run),
        finished: planned.finished(&loaded.run),
        over: matches!(loaded.run.state(), RunState::Failed | RunState::Cancelled),
        spent: spent(&loaded.run),
    })
    .await?;
    let verdict = match found.verdict {
        Verdict::Open if found.over => {
            Verdict::Failed(Fault::new("run_ended", "its run came to an end before"))
        }
        other => other,
    };
    let now = app.clock.now();
    match verdict {
        Verdict::Open if bounds(&doc.current, found.spent, now) == Bounds::BudgetSpent => {
            let why = "its budget is spent".to_owned();
            let next =
                if state(&team) == TeamState::Running { TeamState::Paused } else { state(&team) };
            let (error, alert) = (Some(why.clone()), Some(why.clone()));
            let doc = TeamDoc { error, alert, ..doc };
            settle(app, tenant, (team, doc, next), (Some(alarm), Some(why))).await?;
            tell_run(app, tenant, run, Input::Pause).await
        }
        Verdict::Open => forget(app, tenant, alarm.clone()).await,
        Verdict::Done(result) => {
            let doc = TeamDoc { result: Some(result), error: None, ..doc };
            settle(app, tenant, (team, doc, TeamState::Completed), (Some(alarm), None)).await?;
            tell_run(app, tenant, run, Input::Cancel).await
        }
        Verdict::Failed(fault) => {
            let simpler = fall_back(&doc.current, &fault);
            tell_run(app, tenant, run, Input::Cancel).await?;
            match simpler {
                Some(simpler) => {
                    let mut fallbacks = doc.fallbacks.clone();
                    fallbacks.push(simpler.why);
                    let (current, finished) = (simpler.spec, found.finished);
                    let doc = TeamDoc { current, finished, fallbacks, ..doc };
                    begin(app, tenant, (team, doc), Some(alarm.clone())).await
                }
                None => {
                    let why = fault.message;
                    let doc = TeamDoc { error: Some(why.clone()), ..doc };
                    settle(app, tenant, (team, doc, TeamState::Failed), (Some(alarm), Some(why)))
                        .await
                }
            }
        }
    }
}

/// Stores what was judged.
async fn settle(
    app: &App,
    tenant: TenantId,
    (team, doc, next): (TeamRecord, TeamDoc, TeamState),
    (alarm, why): (Option<&Alarm>, Option<String>),
) -> Result<()> {
    let (now, mint, alarm) = (app.clock.now(), app.mint, alarm.cloned());
    let state = next.as_str().to_owned();
    let stops = next == TeamState::Paused && team.state != state;
    let team = TeamRecord { doc: write(&doc)?, state, updated_at: now, ..team };
    let work = move |tx: &mut Tx<'_>| {
        if let Some(alarm) = &alarm {
            tx.runs().drop_alarm(alarm)?;
        }
        if !tx.workflows().update_team(&team)? {
            return Err(Error::Workflow(WorkflowError::Changed(team.name.clone())));
        }
        let kind = match next {
            TeamState::Completed => "team:completed",
            TeamState::Failed => "team:failed",
            _ => "team:paused",
        };
        let author = Author::default();
        let teller = Teller { mint, now, author: &author };
        tx.record(teller.event(kind, &told(&team, why.as_deref()), ("teamId", team.id)))?;
        if let (true, Some(why)) = (stops, &why) {
            exhausted::raise(tx, &team, why, (mint, now))?;
        }
        Ok(())
    };
    tally::write(app, tenant, work).await
}
