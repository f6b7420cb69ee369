//! What is worth knowing later: it is in the repository of its project, as beads are.

use godel_beads::{Draft, Error as BeadsError, Memory, Shelf, ops};
use godel_model::{ProjectId, Reach};
use tracing::instrument;

use super::Placed;
use super::access::{Shelved, record, shelf_for_new, shelves, skip};
use crate::{App, Call, Error, Result};

/// Lists what is remembered in one project, or in all.
///
/// # Errors
/// If the caller may not, or there is no such project.
#[instrument(level = "debug", name = "app.beads.recall", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn recall(app: &App, call: &Call, of: Option<ProjectId>) -> Result<Vec<Placed<Memory>>> {
    call.may("bead", "read", Reach::Team)?;
    let mut all = Vec::new();
    for Shelved { project: at, shelf } in shelves(app, call, of).await? {
        let known = shelf.read(Shelf::memories).await;
        let known = known.or_else(|error| skip(of, at, error).map(|()| Vec::new()))?;
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
    let Shelved { project, shelf } = shelf_for_new(app, call, project).await?;
    let work = move |draft: &mut Draft<'_>| ops::remember(draft, name.as_deref(), &text);
    let value = shelf.write(&call.actor.name, work).await?;
    record(app, call, "memory:remember", format!("memory/{}", value.id)).await?;
    Ok(Placed { project, value, tag: None })
}

/// Forgets something.
///
/// # Errors
/// If the caller may not, or nothing is remembered under this name, or in several projects.
#[instrument(level = "debug", name = "app.beads.forget", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn forget(app: &App, call: &Call, project: Option<ProjectId>, name: &str) -> Result<()> {
    call.may("bead", "update", Reach::Own)?;
    let known = recall(app, call, project).await?;
    let mut at = known.iter().filter(|one| one.value.id == name).map(|one| one.project);
    let wanted = name.to_owned();
    let Some(one) = at.next() else {
        return Err(Error::Beads(BeadsError::NotFound { what: "memory", name: wanted }));
    };
    let which = if at.next().is_none() { Some(one) } else { project };
    let Shelved { shelf, .. } = shelf_for_new(app, call, which).await?;
    shelf.write(&call.actor.name, move |draft| ops::forget(draft, &wanted)).await?;
    record(app, call, "memory:forget", format!("memory/{name}")).await
}
