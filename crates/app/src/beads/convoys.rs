//! Convoys of the tenant's projects.

use godel_beads::ops::{self, ConvoyChanges, NewConvoy};
use godel_beads::{Convoy, ConvoyState, Draft, tag};
use godel_model::{ConvoyId, ProjectId, Reach};
use jiff::tz::TimeZone;
use tracing::instrument;

use super::Placed;
use super::access::{Asked, Noun, change, find, record, shelf_for_new, shelves, skip};
use crate::once::{Outcome, once};
use crate::{App, Call, Result};

/// How many characters the end of an id has that is chosen without looking.
const SELDOM_TAKEN: usize = 6;

/// Lists the convoys of all projects that the caller sees, the newest first.
///
/// # Errors
/// If a repository cannot be read.
#[instrument(level = "debug", name = "app.beads.convoys", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn convoys(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
) -> Result<Vec<Placed<Convoy>>> {
    call.may("convoy", "read", Reach::Team)?;
    let mut found = Vec::new();
    for shelved in shelves(app, call, project).await? {
        match shelved.shelf.read(godel_beads::Shelf::convoys).await {
            Ok(convoys) => {
                let project = shelved.project;
                found.extend(convoys.into_iter().map(|value| Placed { project, value, tag: None }));
            }
            Err(error) => skip(project, shelved.project, error)?,
        }
    }
    let key = |placed: &Placed<Convoy>| {
        (placed.value.created_at, placed.value.id.clone(), placed.project)
    };
    found.sort_by_cached_key(|placed| std::cmp::Reverse(key(placed)));
    Ok(found)
}

/// Finds a convoy with its waves, progress and whether it is stuck.
///
/// # Errors
/// If there is none that the caller sees.
#[instrument(level = "debug", name = "app.beads.convoy", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn convoy(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
) -> Result<Placed<ConvoyState>> {
    call.may("convoy", "read", Reach::Team)?;
    let (shelved, id) = find(app, call, project, Noun::Convoy, name).await?;
    let read = shelved.shelf.read(move |shelf| {
        let tag = tag(&shelf.convoy(&id)?);
        Ok((shelf.convoy_state(&id)?, tag))
    });
    let (value, tag) = read.await?;
    Ok(Placed { project: shelved.project, value, tag: Some(tag) })
}

/// Makes a convoy; with an idempotency key, once.
///
/// # Errors
/// If a text does not fit, or a bead is not there.
#[instrument(level = "debug", name = "app.beads.create_convoy", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create_convoy(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    mut new: NewConvoy,
) -> Result<Placed<Convoy>> {
    call.may("convoy", "create", Reach::Own)?;
    let shelved = shelf_for_new(app, call, project).await?;
    if call.once.is_some() {
        let day = app.clock.now().to_zoned(TimeZone::UTC).date();
        let id = ConvoyId::mint(app.mint, day, SELDOM_TAKEN).to_string();
        new.id = Some(match once(app, call, move |_| Ok(id.clone())).await? {
            Outcome::Fresh(written) => written.value,
            Outcome::Known(id) => id,
        });
    }
    let made = shelved.shelf.write(&call.actor.name, move |draft| {
        let convoy = ops::create_convoy(draft, &new)?;
        let tag = draft.tag(&convoy.id)?;
        Ok((convoy, tag))
    });
    let (value, tag) = made.await?;
    record(app, call, "convoy:create", format!("convoy/{}", value.id)).await?;
    Ok(Placed { project: shelved.project, value, tag: Some(tag) })
}

/// Says which convoy is to be changed.
fn one<'a>(
    (app, call): (&'a App, &'a Call),
    project: Option<ProjectId>,
    name: &'a str,
    action: &'static str,
) -> Asked<'a> {
    Asked { app, call, project, noun: Noun::Convoy, name, action, token: None }
}

/// Changes what a convoy says.
///
/// # Errors
/// If it is not there, not the caller's, or has changed since the caller read it.
#[instrument(level = "debug", name = "app.beads.update_convoy", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn update_convoy(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    changes: ConvoyChanges,
) -> Result<Placed<Convoy>> {
    call.may("convoy", "update", Reach::Own)?;
    let work = move |draft: &mut Draft<'_>, id: &str| ops::update_convoy(draft, id, &changes);
    change(one((app, call), project, name, "update"), work).await
}

/// Puts beads into a convoy and takes others out.
///
/// # Errors
/// If there is no such convoy or bead.
#[instrument(level = "debug", name = "app.beads.fill_convoy", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn fill_convoy(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    (add, remove): (Vec<String>, Vec<String>),
) -> Result<Placed<Convoy>> {
    call.may("convoy", "update", Reach::Own)?;
    let work = move |draft: &mut Draft<'_>, id: &str| {
        ops::add_to_convoy(draft, id, &add)?;
        ops::remove_from_convoy(draft, id, &remove)
    };
    change(one((app, call), project, name, "update"), work).await
}

/// Deletes a convoy; its beads stay.
///
/// # Errors
/// If there is no such convoy.
#[instrument(level = "debug", name = "app.beads.delete_convoy", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn delete_convoy(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    if_match: Option<Vec<String>>,
) -> Result<()> {
    call.may("convoy", "delete", Reach::Own)?;
    let work =
        move |draft: &mut Draft<'_>, id: &str| ops::delete_convoy(draft, id, if_match.as_deref());
    change(one((app, call), project, name, "delete"), work).await.map(|_| ())
}
