//! Beads for other tools, and from them.

use godel_beads::{BdFile, Imported, Shelf};
use godel_model::{ProjectId, Reach};
use tracing::instrument;

use super::Placed;
use super::access::{record, shelf_for_new};
use crate::{App, Call, Result};

/// Writes all beads of a project as lines of bd.
///
/// # Errors
/// If the caller may not, or it is not clear which project is meant.
#[instrument(level = "debug", name = "app.beads.export", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn export(app: &App, call: &Call, project: Option<ProjectId>) -> Result<Placed<String>> {
    call.may("bead", "read", Reach::Team)?;
    let shelved = shelf_for_new(app, call, project).await?;
    let value = shelved.shelf.read(Shelf::export_bd).await?;
    Ok(Placed { project: shelved.project, value, tag: None })
}

/// Takes a file of bd: all of it, or nothing; or only tells what that would do.
///
/// # Errors
/// If the caller may not, or a line is not what bd writes.
#[instrument(level = "debug", name = "app.beads.import", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn import(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    (text, dry_run): (String, bool),
) -> Result<Placed<Imported>> {
    call.may("bead", "create", Reach::Own)?;
    // It may change what others made.
    call.may("bead", "update", Reach::Team)?;
    let shelved = shelf_for_new(app, call, project).await?;
    let file = shelved.shelf.read(move |_| BdFile::read(&text)).await?;
    let value = if dry_run {
        shelved.shelf.read(move |shelf| file.plan(shelf)).await?
    } else {
        let done = shelved.shelf.write(&call.actor.name, move |draft| file.take(draft)).await?;
        record(app, call, "bead:import", format!("project/{}", shelved.project)).await?;
        done
    };
    Ok(Placed { project: shelved.project, value, tag: None })
}
