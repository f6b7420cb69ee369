//! Projects.

use godel_model::{Project, ProjectChange, ProjectId, ProjectName};
use serde::Serialize;
use tracing::instrument;

use crate::once::{Outcome, once};
use crate::{App, Call, Error, Result};

#[derive(Serialize)]
struct Gone {
    id: ProjectId,
}

/// Makes a project.
///
/// # Errors
/// If the name is taken, or the description too long.
#[instrument(level = "debug", name = "app.projects.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(
    app: &App,
    call: &Call,
    name: ProjectName,
    description: String,
) -> Result<Project> {
    let project = Project::new(app.mint.id(), name, description, app.clock.now())?;
    let event = call.event(app, "project:create", &project, ("projectId", project.id));
    let outcome = once(app, call, move |tx| {
        if !tx.projects().insert(&project)? {
            return Err(Error::ProjectNameTaken(project.name.to_string()));
        }
        tx.record(event.clone())?;
        Ok(project.clone())
    });
    Ok(match outcome.await? {
        Outcome::Fresh(written) => written.value,
        Outcome::Known(project) => project,
    })
}

/// Finds a project.
///
/// # Errors
/// If there is none with this id in the tenant.
#[instrument(level = "debug", name = "app.projects.get", skip_all, fields(tenant = %call.actor.tenant, project = %id))]
pub async fn get(app: &App, call: &Call, id: ProjectId) -> Result<Project> {
    let found = app.store.read(call.scope(), move |tx| tx.projects().by_id(id)).await;
    found.map_err(Error::Store)?.ok_or(Error::NoProject(id))
}

/// Finds the project with a name.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.projects.find", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn find(app: &App, call: &Call, name: ProjectName) -> Result<Option<Project>> {
    app.store.read(call.scope(), move |tx| Ok(tx.projects().by_name(&name)?)).await
}

/// Lists projects by age, up to `limit` behind (or, newest first, before) the given one.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.projects.list", skip_all, fields(tenant = %call.actor.tenant, limit))]
pub async fn list(
    app: &App,
    call: &Call,
    newest_first: bool,
    from: Option<ProjectId>,
    limit: usize,
) -> Result<Vec<Project>> {
    app.store.read(call.scope(), move |tx| Ok(tx.projects().page(newest_first, from, limit)?)).await
}

/// Changes a project; with `expected`, only if its version is one of them.
///
/// # Errors
/// If it is not there, has another version by now, or the new name is taken.
#[instrument(level = "debug", name = "app.projects.update", skip_all, fields(tenant = %call.actor.tenant, project = %id))]
pub async fn update(
    app: &App,
    call: &Call,
    id: ProjectId,
    expected: Option<Vec<i64>>,
    change: ProjectChange,
) -> Result<Project> {
    let (app_, call_) = (app.clone(), call.clone());
    let written = app.store.write(call.scope(), move |tx| {
        let before = expect(tx.projects().by_id(id)?, id, expected.as_deref())?;
        let after = before.changed(change.clone(), app_.clock.now())?;
        if tx.projects().name_taken(&after)? {
            return Err(Error::ProjectNameTaken(after.name.to_string()));
        }
        // On PostgreSQL another server may take the name between the look and the change.
        let updated = tx.projects().update(&after).map_err(|error| match error {
            godel_store::Error::Duplicate => Error::ProjectNameTaken(after.name.to_string()),
            other => Error::Store(other),
        })?;
        if !updated {
            return Err(stale(id, before.version));
        }
        tx.record(call_.event(&app_, "project:update", &after, ("projectId", id)))?;
        Ok(after)
    });
    Ok(written.await?.value)
}

/// Removes a project; with `expected`, only if its version is one of them.
///
/// # Errors
/// If it is not there, or has another version by now.
#[instrument(level = "debug", name = "app.projects.delete", skip_all, fields(tenant = %call.actor.tenant, project = %id))]
pub async fn delete(
    app: &App,
    call: &Call,
    id: ProjectId,
    expected: Option<Vec<i64>>,
) -> Result<()> {
    let event = call.event(app, "project:delete", &Gone { id }, ("projectId", id));
    let written = app.store.write(call.scope(), move |tx| {
        let project = expect(tx.projects().by_id(id)?, id, expected.as_deref())?;
        if !tx.projects().delete(&project)? {
            return Err(stale(id, project.version));
        }
        Ok(tx.record(event.clone())?)
    });
    written.await.map(drop)
}

fn expect(found: Option<Project>, id: ProjectId, expected: Option<&[i64]>) -> Result<Project> {
    let project = found.ok_or(Error::NoProject(id))?;
    match expected {
        Some(expected) if !expected.contains(&project.version) => {
            Err(Error::ProjectVersion { id, found: project.version })
        }
        _ => Ok(project),
    }
}

/// Says that another transaction was faster.
fn stale(id: ProjectId, read: i64) -> Error {
    Error::ProjectVersion { id, found: read + 1 }
}
