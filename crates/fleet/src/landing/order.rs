//! The order of the line: whoever may hold it up may also say who is tried next.

use godel_app::{Call, beads};
use godel_decide::line::{self, Waiting, Whither};
use godel_model::{ProjectId, Reach, code};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

use super::entry::{Entry, Stage};
use super::queue;
use crate::{Error, Fleet, Result, paper};

/// Gives a bead that waits in the line another place among those that wait.
///
/// # Errors
/// If the caller may not, or one of the beads does not wait in the line.
#[instrument(level = "debug", name = "fleet.landing.reorder", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn reorder(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
    whither: Whither,
) -> Result<Entry> {
    call.may("review", "update", Reach::Team)?;
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let (project, bead) = (found.project, found.value.0.id);
    let whither = match whither {
        // People say only as much of an id as is needed.
        Whither::Before(other) => {
            let other = beads::get(fleet.app(), call, Some(project), &other).await?;
            Whither::Before(other.value.0.id)
        }
        end => end,
    };
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let mut waiting =
            paper::in_state::<Entry>(tx, Stage::Waiting.as_str(), None, queue::LOOK_MAX)?;
        waiting.retain(|entry| entry.project == project);
        waiting.sort_by_key(Entry::place);
        let line: Vec<Waiting<Uuid>> =
            waiting.iter().map(|one| (one.id, one.bead.clone(), one.place().0)).collect();
        let moved = line::reorder(&line, &bead, &whither).map_err(|other| {
            Error::refused(
                code::LANDING_REFUSED,
                format!("{other} does not wait in the line"),
                "only what waits can get another place: see `godel land status`",
            )
        })?;
        for (id, at) in moved {
            let change = move |_: &mut Tx<'_>, entry: &mut Entry| {
                entry.placed_at = Some(at);
                Ok(())
            };
            paper::change_in::<Entry, ()>(tx, id, change)?;
        }
        let name = Entry::name_of(project, &bead);
        let entry = paper::by_label::<Entry>(tx, &name)?;
        let entry = entry.ok_or_else(|| Error::NotQueued(bead.clone()))?;
        queue::tell(&app, &call_, tx, "landing:moved", &entry)?;
        Ok(entry)
    };
    let entry = paper::write(fleet.app(), call.actor.tenant, work).await?;
    fleet.own.moved.notify_waiters();
    Ok(entry)
}
