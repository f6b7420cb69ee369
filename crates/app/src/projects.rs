//! Projects.

use godel_model::{
    BudgetScope, Limits, Period, Project, ProjectChange, ProjectId, ProjectName, Reach,
};
use godel_store::Tx;
use serde::Serialize;
use tracing::instrument;

use crate::once::{Outcome, once};
use crate::spend::budgets;
use crate::{App, Call, Error, Result, audit, beads};

#[derive(Serialize)]
struct Gone {
    id: ProjectId,
}

/// A project that is to be made.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// Its name.
    pub name: ProjectName,
    /// What it is about.
    pub description: String,
    /// What its work may use.
    pub limits: Limits,
    /// The folder of its repository on the server.
    pub repository: Option<String>,
}

impl NewProject {
    /// Asks for a project that has nothing but a name.
    pub fn named(name: ProjectName) -> Self {
        let (description, limits, repository) = (String::new(), Limits::default(), None);
        Self { name, description, limits, repository }
    }
}

/// Makes a project.
///
/// # Errors
/// If the name is taken, the description too long, or there is no such repository.
#[instrument(level = "debug", name = "app.projects.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, new: NewProject) -> Result<Project> {
    call.may("project", "create", Reach::Team)?;
    let NewProject { name, description, limits, repository } = new;
    let project = Project::new(app.mint.id(), name, description, limits, app.clock.now())?
        .with_repository(repository.as_deref())?;
    let told = tip_of(app, call, project.repository.as_deref()).await?;
    let event = call.event(app, "project:create", &project, ("projectId", project.id));
    let (app_, call_) = (app.clone(), call.clone());
    let outcome = once(app, call, move |tx| {
        if !tx.projects().insert(&project)? {
            return Err(Error::ProjectNameTaken(project.name.to_string()));
        }
        if let Some(told) = &told {
            tx.shelves().begin(project.id, told)?;
        }
        budgets::follow_project(&app_, tx, &project, project.created_at)?;
        call_.tell(&app_, tx, event.clone())?;
        Ok(project.clone())
    });
    Ok(match outcome.await? {
        Outcome::Fresh(written) => written.value,
        Outcome::Known(project) => project,
    })
}

/// Returns the commit that the beads of a repository are at; what comes behind it is news.
///
/// A path at which there is no repository is refused.
async fn tip_of(app: &App, call: &Call, path: Option<&str>) -> Result<Option<String>> {
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Ok(None) };
    let shelf = app.shelves.at(path, &app.clock).await?;
    for (tenant, project) in beads::all_with_repository(app).await? {
        // The wall between tenants goes through the file system, too.
        let theirs = project.repository.unwrap_or_default();
        let same = tenant != call.actor.tenant
            && app
                .shelves
                .at(&theirs, &app.clock)
                .await
                .is_ok_and(|one| one.place() == shelf.place());
        if same {
            return Err(Error::invalid_at(
                "repository",
                "this repository belongs to another tenant",
            ));
        }
    }
    shelf.read(|shelf| shelf.commit()).await.map(|commit| Some(commit.unwrap_or_default()))
}

/// Finds a project.
///
/// # Errors
/// If there is none with this id in the tenant.
#[instrument(level = "debug", name = "app.projects.get", skip_all, fields(tenant = %call.actor.tenant, project = %id))]
pub async fn get(app: &App, call: &Call, id: ProjectId) -> Result<Project> {
    call.may("project", "read", Reach::Team)?;
    own(app, call, id, "project:read").await?;
    let found = app.store.read(call.scope(), move |tx| tx.projects().by_id(id)).await;
    found.map_err(Error::Store)?.ok_or(Error::NoProject(id))
}

/// Refuses a project in which the caller does not work: for it, there is none.
async fn own(app: &App, call: &Call, id: ProjectId, action: &'static str) -> Result<()> {
    if call.actor.works_in(id) {
        return Ok(());
    }
    audit::refused(app, call, action, &format!("project/{id}")).await?;
    Err(Error::NoProject(id))
}

/// Finds the project with a name.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.projects.find", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn find(app: &App, call: &Call, name: ProjectName) -> Result<Option<Project>> {
    call.may("project", "read", Reach::Team)?;
    let found = app.store.read(call.scope(), move |tx| tx.projects().by_name(&name)).await;
    let found = found.map_err(Error::Store)?;
    Ok(found.filter(|project| call.actor.works_in(project.id)))
}

/// Finds the project that somebody means by its id or name, or the only one that has a repository.
///
/// # Errors
/// If there is none, or several.
#[instrument(level = "debug", name = "app.projects.meant", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn meant(app: &App, call: &Call, which: Option<String>) -> Result<Option<ProjectId>> {
    call.may("project", "read", Reach::Team)?;
    let Some(which) = which else {
        let read = app.store.read(call.scope(), |tx| tx.projects().with_repository()).await;
        let all = read.map_err(Error::Store)?;
        let mut own = all.into_iter().filter(|one| call.actor.works_in(one.id));
        return match (own.next(), own.next()) {
            (Some(only), None) => Ok(Some(only.id)),
            (None, _) => Err(Error::invalid("no project has a repository yet")),
            (Some(_), Some(_)) => {
                Err(Error::invalid("there are several projects: say which by `project`"))
            }
        };
    };
    if let Ok(id) = which.parse::<ProjectId>() {
        return get(app, call, id).await.map(|found| Some(found.id));
    }
    let found = match which.parse() {
        Ok(name) => find(app, call, name).await?,
        Err(_) => None,
    };
    let none = || Error::invalid(&format!("there is no project \"{which}\""));
    found.map(|found| Some(found.id)).ok_or_else(none)
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
    call.may("project", "read", Reach::Team)?;
    let own = std::sync::Arc::clone(&call.actor.projects);
    let work = move |tx: &mut Tx<'_>| {
        if own.is_empty() {
            return Ok(tx.projects().page(newest_first, from, limit)?);
        }
        // Few people work in more than a handful of projects.
        let mut ids: Vec<ProjectId> = own.iter().copied().collect();
        ids.sort_unstable();
        if newest_first {
            ids.reverse();
        }
        let beyond = |id: &ProjectId| {
            from.is_none_or(|from| if newest_first { *id < from } else { *id > from })
        };
        let mut found = Vec::new();
        for id in ids.into_iter().filter(beyond).take(limit) {
            found.extend(tx.projects().by_id(id)?);
        }
        Ok(found)
    };
    app.store.read(call.scope(), work).await
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
    call.may("project", "update", Reach::Team)?;
    own(app, call, id, "project:update").await?;
    let told = tip_of(app, call, change.repository.as_deref()).await?;
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
        if before.repository != after.repository {
            tx.shelves().forget(id)?;
            if let Some(told) = &told {
                tx.shelves().begin(id, told)?;
            }
        }
        budgets::follow_project(&app_, tx, &after, after.updated_at)?;
        let event = call_.event(&app_, "project:update", &after, ("projectId", id));
        call_.tell(&app_, tx, event)?;
        Ok(after)
    });
    let project = written.await?.value;
    app.askers.forget_all();
    app.rooms.allow(id, project.limits.max_agents);
    Ok(project)
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
    call.may("project", "delete", Reach::Team)?;
    own(app, call, id, "project:delete").await?;
    let event = call.event(app, "project:delete", &Gone { id }, ("projectId", id));
    let (app_, call_) = (app.clone(), call.clone());
    let written = app.store.write(call.scope(), move |tx| {
        let project = expect(tx.projects().by_id(id)?, id, expected.as_deref())?;
        if !tx.projects().delete(&project)? {
            return Err(stale(id, project.version));
        }
        tx.shelves().forget(id)?;
        tx.budgets().delete_scope(&BudgetScope::Project(id), Period::Monthly)?;
        call_.tell(&app_, tx, event.clone())
    });
    written.await?;
    app.askers.forget_all();
    Ok(())
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
