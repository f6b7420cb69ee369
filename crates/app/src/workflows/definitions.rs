//! Workflows as they are stored.

use godel_decide::workflow::{Definition, Plan};
use godel_model::{Reach, WorkflowId};
use godel_store::{Tx, WorkflowRecord};
use serde::Serialize;
use tracing::instrument;

use super::WorkflowError;
use crate::{App, Call, Error, Result};

/// How large the text of a workflow can be.
const SOURCE_MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Serialize)]
struct Told<'a> {
    workflow: WorkflowId,
    name: &'a str,
    version: i64,
}

/// Reads a workflow, and tells all that is wrong with it.
///
/// # Errors
/// If the text is no workflow.
pub fn read(source: &str) -> Result<Plan> {
    if source.len() > SOURCE_MAX_BYTES {
        return Err(Error::invalid("the text of a workflow has at most 4 MiB"));
    }
    Ok(Plan::parse(source).map_err(WorkflowError::Problems)?)
}

/// Checks a workflow without storing it.
///
/// # Errors
/// If the caller may not, or the text is no workflow.
#[instrument(level = "debug", name = "app.workflows.check", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn check(_app: &App, call: &Call, source: &str) -> Result<Plan> {
    call.may("workflow", "read", Reach::Team)?;
    read(source)
}

/// Stores a workflow under its name.
///
/// # Errors
/// If the caller may not, the text is no workflow, or the name is taken.
#[instrument(level = "debug", name = "app.workflows.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, source: String) -> Result<WorkflowRecord> {
    call.may("workflow", "create", Reach::Own)?;
    let plan = read(&source)?;
    let now = app.clock.now();
    let record = WorkflowRecord {
        id: app.mint.id(),
        name: plan.definition().name.clone(),
        source,
        version: 1,
        created_at: now,
        updated_at: now,
        created_by: call.actor.user,
    };
    let definition = plan.definition().clone();
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        refuse_circle(tx, &definition)?;
        if !tx.workflows().insert(&record)? {
            return Err(Error::Workflow(WorkflowError::NameTaken(record.name.clone())));
        }
        tell(&app_, &call_, tx, "workflow:created", &record)?;
        Ok(record.clone())
    };
    Ok(app.store.write(call.scope(), work).await?.value)
}

fn tell(
    app: &App,
    call: &Call,
    tx: &mut Tx<'_>,
    kind: &'static str,
    record: &WorkflowRecord,
) -> Result<()> {
    let told = Told { workflow: record.id, name: &record.name, version: record.version };
    call.tell(app, tx, call.event(app, kind, &told, ("workflowId", record.id)))
}

/// Refuses a workflow that would run itself by way of others.
fn refuse_circle(tx: &mut Tx<'_>, definition: &Definition) -> Result<()> {
    let mut uses = std::collections::BTreeMap::new();
    let mut open: Vec<String> = definition.uses().into_iter().map(ToOwned::to_owned).collect();
    while let Some(name) = open.pop() {
        if uses.contains_key(&name) || name == definition.name {
            continue;
        }
        let found = tx.workflows().by_name(&name)?;
        let parsed = found.and_then(|found| Definition::parse(&found.source).ok());
        let names: Vec<String> = parsed
            .map(|parsed| parsed.uses().into_iter().map(ToOwned::to_owned).collect())
            .unwrap_or_default();
        open.extend(names.iter().cloned());
        uses.insert(name, names);
    }
    match definition.recursion(|name| uses.get(name).cloned()) {
        Some(circle) => {
            let why = format!("the workflow would run itself: {}", circle.join(" -> "));
            Err(Error::Invalid(godel_model::Invalid::new(godel_model::code::INVALID_FIELD, why)))
        }
        None => Ok(()),
    }
}

/// Lists workflows.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.workflows.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    after: Option<WorkflowId>,
    limit: usize,
) -> Result<Vec<WorkflowRecord>> {
    call.may("workflow", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| tx.workflows().page(after, limit));
    read.await.map_err(Error::Store)
}

/// Finds a workflow by its id or its name.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.workflows.find", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn find(app: &App, call: &Call, which: &str) -> Result<WorkflowRecord> {
    call.may("workflow", "read", Reach::Team)?;
    let which = which.to_owned();
    let read = app.store.read(call.scope(), move |tx| {
        let found = match which.parse::<WorkflowId>() {
            Ok(id) => tx.workflows().by_id(id)?,
            Err(_) => tx.workflows().by_name(&which)?,
        };
        found.ok_or_else(|| Error::Workflow(WorkflowError::NoWorkflow(which.clone())))
    });
    read.await
}

/// Stores another text of a workflow; runs that have begun go on with the old one.
///
/// # Errors
/// If the caller may not, there is none, or the text is no workflow of that name.
#[instrument(level = "debug", name = "app.workflows.update", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn update(
    app: &App,
    call: &Call,
    id: WorkflowId,
    source: String,
) -> Result<WorkflowRecord> {
    call.may("workflow", "update", Reach::Own)?;
    let definition = read(&source)?.definition().clone();
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let none = || Error::Workflow(WorkflowError::NoWorkflow(id.to_string()));
        let before = tx.workflows().by_id(id)?.ok_or_else(none)?;
        may_change(&call_, "update", &before)?;
        if definition.name != before.name {
            return Err(Error::invalid("a workflow keeps its name; make another one"));
        }
        refuse_circle(tx, &definition)?;
        let version = before.version + 1;
        let after = WorkflowRecord { source: source.clone(), version, updated_at: now, ..before };
        if !tx.workflows().update(&after)? {
            return Err(WorkflowError::Changed(after.name).into());
        }
        tell(&app_, &call_, tx, "workflow:updated", &after)?;
        Ok(after)
    };
    Ok(app.store.write(call.scope(), work).await?.value)
}

/// Removes a workflow; its runs stay.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.workflows.delete", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn delete(app: &App, call: &Call, id: WorkflowId) -> Result<()> {
    call.may("workflow", "delete", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let none = || Error::Workflow(WorkflowError::NoWorkflow(id.to_string()));
        let gone = tx.workflows().by_id(id)?.ok_or_else(none)?;
        tx.workflows().delete(id)?;
        tell(&app_, &call_, tx, "workflow:deleted", &gone)
    };
    app.store.write(call.scope(), work).await?;
    Ok(())
}

fn may_change(call: &Call, action: &'static str, record: &WorkflowRecord) -> Result<()> {
    match call.may("workflow", action, Reach::Team) {
        Err(_) if record.created_by == call.actor.user => Ok(()),
        other => other,
    }
}
