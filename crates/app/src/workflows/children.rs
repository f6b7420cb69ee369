//! A run that a step of another one started rests while that one rests, and goes on where it failed
//! when the step is tried again.
//!
//! It looks at its parent before it begins anything, so that nothing new begins once the parent is
//! paused; that it may go on again it is told by an alarm.

use godel_decide::workflow::definition::StepKind;
use godel_decide::workflow::{Input, RunRow, RunState, StepState};
use godel_model::{RunId, TenantId};
use godel_store::{Alarm, Error as StoreError, RunRecord, Scope, Tx};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::engine::{Loaded, RUN};
use crate::{App, Error, Result};

/// How many rounds of a step are looked at for a run that can go on.
const ROUNDS_BACK_MAX: usize = 20;
/// The alarm that lets a run do as its parent does.
pub(super) const AS_PARENT: &str = "parent";
/// The alarm that lets a run tell its children how it stands.
pub(super) const TELL_CHILDREN: &str = "children";

/// The alarm that lets a run do again what failed.
pub(super) const RETRY: &str = "retry";

/// Finds the run of an earlier round of a step that did not succeed and was to do the very same, and
/// lets it belong to the round of the key: what it has done need not be done again.
pub(super) fn earlier(
    tx: &mut Tx<'_>,
    (record, key, definition): (&RunRecord, &str, &str),
    now: Timestamp,
) -> Result<Option<RunId>, StoreError> {
    let Some((step, Ok(round))) =
        key.rsplit_once('/').map(|(step, round)| (step, round.parse::<u32>()))
    else {
        return Ok(None);
    };
    // A round in which the step did not come to its turn has no run.
    for round in (0..round).rev().take(ROUNDS_BACK_MAX) {
        let Some(found) = tx.runs().by_key(&format!("{step}/{round}"))? else { continue };
        let ended = matches!(found.state.parse(), Ok(RunState::Failed | RunState::Cancelled));
        let same = inputs(&found).is_some_and(|given| inputs(record) == Some(given))
            && tx.runs().definition(found.id)?.as_deref() == Some(definition);
        let part = record.parent.as_ref().map_or("", |(_, part)| part.as_str());
        let adopted = ended && same && tx.runs().adopt(&found, (key, part), now)?;
        return Ok(adopted.then_some(found.id));
    }
    Ok(None)
}

fn inputs(record: &RunRecord) -> Option<Map<String, Value>> {
    serde_json::from_str::<RunRow>(&record.doc).ok().map(|row| row.inputs)
}

/// Tells what a run has to do again; if that is nothing, its parent hears once more how it ended.
pub(super) async fn retried(
    app: &App,
    tenant: TenantId,
    loaded: &Loaded,
    now: Timestamp,
) -> Result<Option<Input>> {
    let input = Input::RetryFrom { steps: Vec::new() };
    if loaded.run.clone().apply(input.clone(), now).is_ok() {
        return Ok(Some(input));
    }
    let Some((parent, part)) = loaded.record.parent.clone() else { return Ok(None) };
    let (owner, what) = (parent.to_string(), format!("child:{part}/{}", loaded.record.id));
    let work = move |tx: &mut Tx<'_>| {
        let (kind, at) = (RUN.to_owned(), tx.clock(now)?);
        tx.runs().set_alarm(&Alarm { kind, owner: owner.clone(), what: what.clone(), at })
    };
    app.store.write(Scope::Tenant(tenant), work).await?;
    app.desks.ring_news();
    Ok(None)
}

async fn state_of(app: &App, tenant: TenantId, run: RunId) -> Result<Option<RunState>> {
    let find = move |tx: &mut Tx<'_>| tx.runs().by_id(run);
    let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
    Ok(found.and_then(|found| found.state.parse().ok()))
}

/// Tells whether a run works whose parent rests.
pub(super) async fn parent_rests(app: &App, tenant: TenantId, loaded: &Loaded) -> Result<bool> {
    let Some((parent, _)) = &loaded.record.parent else { return Ok(false) };
    if loaded.run.state() != RunState::Running {
        return Ok(false);
    }
    Ok(state_of(app, tenant, *parent).await? == Some(RunState::Paused))
}

/// Tells what a run has to do, as its parent stands.
pub(super) async fn wanted(app: &App, tenant: TenantId, loaded: &Loaded) -> Result<Option<Input>> {
    let Some((parent, _)) = &loaded.record.parent else { return Ok(None) };
    Ok(match state_of(app, tenant, *parent).await? {
        Some(RunState::Paused) => Some(Input::Pause),
        Some(RunState::Running) => Some(Input::Resume),
        _ => None,
    })
}

/// Returns the keys of the runs that the steps of a run started and that work.
fn keys(loaded: &Loaded) -> Vec<String> {
    let run = &loaded.run;
    let steps = run.plan().steps().filter(|(index, step)| {
        matches!(step.kind, StepKind::Workflow(_)) && run.step_state(*index) == StepState::Running
    });
    steps
        .map(|(index, step)| format!("{}/{}/{}", run.id(), step.id, run.step_round(index)))
        .collect()
}

/// Notes that the children of a run are to be told how it stands. This is done before the run itself
/// is written, so that a crash in between leaves none of them at rest for ever.
pub(super) async fn remind(
    app: &App,
    tenant: TenantId,
    loaded: &Loaded,
    now: Timestamp,
) -> Result<()> {
    if keys(loaded).is_empty() {
        return Ok(());
    }
    let owner = loaded.record.id.to_string();
    let work = move |tx: &mut Tx<'_>| {
        let (kind, what, at) = (RUN.to_owned(), TELL_CHILDREN.to_owned(), tx.clock(now)?);
        tx.runs().set_alarm(&Alarm { kind, owner: owner.clone(), what, at })
    };
    app.store.write(Scope::Tenant(tenant), work).await?;
    Ok(())
}

/// Has the runs that the steps of a run started rest or go on with it.
pub(super) async fn tell(
    app: &App,
    tenant: TenantId,
    loaded: &Loaded,
    now: Timestamp,
) -> Result<()> {
    let keys = keys(loaded);
    let work = move |tx: &mut Tx<'_>| {
        let at = tx.clock(now)?;
        for key in &keys {
            if let Some(child) = tx.runs().by_key(key)? {
                let (kind, owner) = (RUN.to_owned(), child.id.to_string());
                tx.runs().set_alarm(&Alarm { kind, owner, what: AS_PARENT.to_owned(), at })?;
            }
        }
        Ok::<_, StoreError>(())
    };
    app.store.write(Scope::Tenant(tenant), work).await?;
    app.desks.ring_news();
    Ok(())
}
