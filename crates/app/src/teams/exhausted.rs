//! When there is nobody left who could do the work of a team: it waits in the queue, and people are
//! told.

use std::collections::BTreeMap;

use godel_decide::agent::ERRANDS;
use godel_decide::team::TeamPlan;
use godel_decide::workflow::definition::StepKind;
use godel_model::{Lane, PoolName, TenantId};
use godel_store::{Alarm, TeamRecord, Tx};
use jiff::Timestamp;

use super::{read, state, told, write};
use crate::queue::{Author, STUCK, Teller, tally};
use crate::workflows::WorkflowError;
use crate::{App, Error, Result};

/// What the steps of a plan need: for each line its pool, and one of the steps.
pub(super) fn needs(plan: &TeamPlan) -> Vec<(Lane, PoolName, String)> {
    let mut needs = BTreeMap::new();
    for step in &plan.definition.steps {
        // For errands there is the fleet, which comes when there are some.
        if let StepKind::Task(task) = &step.kind
            && task.pool.as_str() != ERRANDS
            && let Ok(lane) = Lane::new(&task.pool, &task.requires)
        {
            needs.entry(lane).or_insert_with(|| (task.pool.clone(), step.id.clone()));
        }
    }
    needs.into_iter().map(|(lane, (pool, step))| (lane, pool, step)).collect()
}

/// Tells for which step there is no worker who could do it.
pub(super) fn nobody(
    tx: &mut Tx<'_>,
    needs: &[(Lane, PoolName, String)],
) -> godel_store::Result<Option<String>> {
    for (lane, pool, step) in needs {
        let workers = tx.workers().active(pool)?;
        if !workers.iter().any(|(_, able)| lane.is_open_to(able)) {
            let why = format!("no worker of pool {pool} can do \"{step}\"; it waits for one");
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// Returns why the work of a team does not go on, if an alarm tells that.
pub(super) fn stuck(alarm: &Alarm) -> Option<String> {
    alarm.what.strip_prefix(STUCK).map(ToOwned::to_owned)
}

/// Tells people that the work of a team does not go on, once for each reason.
pub(super) async fn alert(
    app: &App,
    tenant: TenantId,
    team: TeamRecord,
    (alarm, why): (&Alarm, String),
) -> Result<()> {
    let mut doc = read(&team)?;
    let (now, mint, alarm) = (app.clock.now(), app.mint, alarm.clone());
    let is_new = !state(&team).is_final() && doc.alert.as_deref() != Some(&why);
    doc.alert = Some(why.clone());
    let team = TeamRecord { doc: write(&doc)?, updated_at: now, ..team };
    let work = move |tx: &mut Tx<'_>| {
        tx.runs().drop_alarm(&alarm)?;
        if !is_new {
            return Ok(());
        }
        if !tx.workflows().update_team(&team)? {
            return Err(Error::Workflow(WorkflowError::Changed(team.name.clone())));
        }
        raise(tx, &team, &why, (mint, now))?;
        Ok(())
    };
    tally::write(app, tenant, work).await
}

/// Records that people should see to a team.
pub(super) fn raise(
    tx: &mut Tx<'_>,
    team: &TeamRecord,
    why: &str,
    (mint, now): (godel_model::Mint, Timestamp),
) -> godel_store::Result<()> {
    tracing::warn!(team = %team.id, name = %team.name, why, "a team needs somebody to see to it");
    let author = Author::default();
    let teller = Teller { mint, now, author: &author };
    tx.record(teller.event("team:alert", &told(team, Some(why)), ("teamId", team.id)))
}
