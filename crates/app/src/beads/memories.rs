//! What is worth knowing later: it is in the repository of its project, as beads are.

use godel_beads::{Memory, Shelf, ops};
use godel_model::{ProjectId, Reach};
use tracing::instrument;

use super::Placed;
use super::access::{record, shelf_for_new, shelves, skip};
use crate::{App, Call, Result};

/// Lists what is remembered in one project, or in all.
///
/// # Errors
/// If the caller may not, or there is no such project.
#[instrument(level = "debug", name = "app.beads.memories", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn memories(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
) -> Result<Vec<Placed<Memory>>> {
    call.may("bead", "read", Reach::Team)?;
    let mut all = Vec::new();
    for shelved in shelves(app, call, project).await? {
        let at = shelved.project;
        let known = shelved.shelf.read(Shelf::memories).await;
        let known = known.or_else(|error| skip(project, at, error).map(|()| Vec::new()))?;
        all.extend(known.into_iter().map(|value| Placed { project: at, value, tag: None }));
    }
    Ok(all)
}

/// Remembers something, under a name if one is given.
///
/// # Errors
/// If the caller may not, or the text or the name does not fit.
#[instrument(level = "debug", name = "app.beads.remember", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn remember(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    (name, text): (Option<String>, String),
) -> Result<Placed<Memory>> {
    call.may("bead", "create", Reach::Own)?;
    let shelved = shelf_for_new(app, call, project).await?;
    let by = call.actor.name.clone();
    let write = shelved.shelf.write(&by, move |draft| ops::remember(draft, name.as_deref(), &text));
    let value = write.await?;
    record(app, call, "memory:remember", format!("memory/{}", value.id)).await?;
    Ok(Placed { project: shelved.project, value, tag: None })
}

/// Forgets something.
///
/// # Errors
/// If the caller may not, or nothing is remembered under this name.
#[instrument(level = "debug", name = "app.beads.forget", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn forget(app: &App, call: &Call, project: Option<ProjectId>, name: &str) -> Result<()> {
    call.may("bead", "update", Reach::Own)?;
    let shelved = shelf_for_new(app, call, project).await?;
    let (by, wanted) = (call.actor.name.clone(), name.to_owned());
    shelved.shelf.write(&by, move |draft| ops::forget(draft, &wanted)).await?;
    record(app, call, "memory:forget", format!("memory/{name}")).await
}
