//! How a team goes on: it is planned, its run is judged, and a simpler way is taken if it fails.

use std::sync::Arc;

use godel_decide::team::{
    Bounds, FallBack, Finished, TeamPlan, TeamState, Verdict, bounds, fall_back, plan,
};
use godel_decide::workflow::{Fault, Input, NewRun, Plan, RUN_TIMED_OUT, Run, RunState};
use godel_model::{RunId, TeamId, TenantId, UserId};
use godel_store::{Alarm, RunRecord, Scope, TeamRecord, Tx};
use jiff::Timestamp;
use serde_json::Map;

use super::{TeamDoc, bid, exhausted, heard, read, record, state, told, write};
use crate::queue::{Author, Teller, tally};
use crate::workflows::{WorkflowError, look_at, make};
use crate::{App, Error, Result};

/// Plans a team as it is to be done now, and lets the run of the plan begin; `before` is what rang for
/// that, and what was spent so far.
pub(super) async fn begin(
    app: &App,
    tenant: TenantId,
    (team, mut doc): (TeamRecord, TeamDoc),
    before: Option<(Alarm, i64)>,
) -> Result<()> {
    let (rung, spent) = before.unzip();
    let now = app.clock.now();
    let planned = plan(&doc.current, &doc.finished, now).map_err(WorkflowError::Team)?;
    if planned.definition.steps.is_empty() {
        return settle_at_once(app, tenant, (team, doc, planned), rung).await;
    }
    let needs = exhausted::needs(&planned);
    let (mut run, text) = new_run(app, planned, team.created_by, now)?;
    run.team = Some(team.id);
    let (last, begun) = (doc.run, run.id);
    doc.spent_before = spent.unwrap_or(0);
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
        bid(tx, last, now)?;
        tx.runs().insert(&run, None, &text)?;
        let bidden = bid(tx, Some(begun), now)?;
        let author = Author::default();
        let teller = Teller { mint, now, author: &author };
        tx.record(teller.event(kind, &told(&team, why.as_deref()), ("teamId", id)))?;
        if let Some(alert) = alert {
            exhausted::raise(tx, &team, &alert, (mint, now))?;
        }
        Ok(bidden)
    };
    let bidden = tally::write(app, tenant, work).await?;
    heard(app, tenant, bidden).await?;
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
        match Box::pin(judge(app, tenant, id, &alarm)).await {
            Ok(()) => {}
            Err(Error::Store(error)) => return Err(Error::Store(error)),
            // Somebody changed it at this moment: the alarm is still there and rings again.
            Err(Error::Workflow(WorkflowError::Changed(_))) => {}
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
    late: bool,
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
        late: loaded.run.row().fault.is_some_and(|fault| fault.code == RUN_TIMED_OUT),
        spent: doc.spent_with(&loaded.run),
    })
    .await?;
    let stands = bounds(&doc.current, found.spent, app.clock.now());
    let works = state(&team) == TeamState::Running;
    match found.verdict {
        Verdict::Done(result) => {
            let doc = TeamDoc { result: Some(result), error: None, ..doc };
            settle(app, tenant, (team, doc, TeamState::Completed), (Some(alarm), None)).await
        }
        Verdict::Open if !found.over => {
            if works && stands == Bounds::BudgetSpent {
                return out_of_money(app, tenant, (team, doc), alarm).await;
            }
            forget(app, tenant, alarm.clone()).await
        }
        // Only the deadline of the team ends its run that way, whatever the clock here says.
        Verdict::Open | Verdict::Failed(_) if found.late || stands == Bounds::DeadlinePassed => {
            give_up(app, tenant, (team, doc), (alarm, "the deadline has passed".to_owned())).await
        }
        verdict => {
            let fault = match verdict {
                Verdict::Failed(fault) => fault,
                _ => Fault::new("run_ended", "its run came to an end before"),
            };
            let Some(simpler) = fall_back(&doc.current, &fault) else {
                return give_up(app, tenant, (team, doc), (alarm, fault.message)).await;
            };
            // What is paused, or has nothing to spend, begins nothing new; it is judged again when it
            // goes on.
            if !works {
                return forget(app, tenant, alarm.clone()).await;
            }
            if stands == Bounds::BudgetSpent {
                return out_of_money(app, tenant, (team, doc), alarm).await;
            }
            let done = (found.finished, found.spent);
            let next = begin_simpler(app, tenant, (team, doc), done, (simpler, alarm));
            Box::pin(next).await
        }
    }
}

/// Lets a team begin anew in a simpler way, with what was done already.
async fn begin_simpler(
    app: &App,
    tenant: TenantId,
    (team, doc): (TeamRecord, TeamDoc),
    (finished, spent): (Finished, i64),
    (simpler, alarm): (FallBack, &Alarm),
) -> Result<()> {
    let mut fallbacks = doc.fallbacks.clone();
    fallbacks.push(simpler.why);
    let current = simpler.spec;
    if let Err(wrong) = plan(&current, &finished, app.clock.now()) {
        return give_up(app, tenant, (team, doc), (alarm, wrong.join("; "))).await;
    }
    let doc = TeamDoc { current, finished, fallbacks, ..doc };
    begin(app, tenant, (team, doc), Some((alarm.clone(), spent))).await
}

/// Pauses a team that has nothing left to spend.
async fn out_of_money(
    app: &App,
    tenant: TenantId,
    (team, doc): (TeamRecord, TeamDoc),
    alarm: &Alarm,
) -> Result<()> {
    let why = "its budget is spent".to_owned();
    let doc = TeamDoc { error: Some(why.clone()), ..doc };
    settle(app, tenant, (team, doc, TeamState::Paused), (Some(alarm), Some(why))).await
}

/// Ends a team of which nothing can come any more.
async fn give_up(
    app: &App,
    tenant: TenantId,
    (team, doc): (TeamRecord, TeamDoc),
    (alarm, why): (&Alarm, String),
) -> Result<()> {
    let doc = TeamDoc { error: Some(why.clone()), ..doc };
    settle(app, tenant, (team, doc, TeamState::Failed), (Some(alarm), Some(why))).await
}

/// Stores what was judged; people are told of all that did not end well.
async fn settle(
    app: &App,
    tenant: TenantId,
    (team, mut doc, next): (TeamRecord, TeamDoc, TeamState),
    (alarm, why): (Option<&Alarm>, Option<String>),
) -> Result<()> {
    let (now, mint, alarm) = (app.clock.now(), app.mint, alarm.cloned());
    let (state, run) = (next.as_str().to_owned(), doc.run);
    doc.alert.clone_from(&why);
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
        if let Some(why) = &why {
            exhausted::raise(tx, &team, why, (mint, now))?;
        }
        bid(tx, run, now).map_err(Error::Store)
    };
    let bidden = tally::write(app, tenant, work).await?;
    heard(app, tenant, bidden).await
}
