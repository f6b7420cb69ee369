//! What has landed is taken back on the wish of a person, and its bead is open again.

use std::sync::Arc;

use godel_app::{Call, beads};
use godel_git::{Landed, Merge, Message, Name, Prepared, Span};
use godel_model::{BeadStatus, ProjectId, Reach, code};
use godel_store::Tx;
use tracing::instrument;

use super::entry::{Entry, Stage};
use super::train::{Ride, author};
use super::{find, judge, queue, whole};
use crate::fleet::lock;
use crate::{Error, Fleet, Result, paper, wishes};

/// How often it begins anew because the branch has moved.
const TRIES: usize = 10;

/// Takes back what a bead brought; returns the commit that does so. It goes on if nobody waits any more.
///
/// # Errors
/// If the caller may not, the bead has not landed, others have built on it, or a gate fails without it.
#[instrument(level = "debug", name = "fleet.landing.revert", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn revert(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
) -> Result<(Entry, String)> {
    call.may("review", "update", Reach::Own)?;
    let (fleet_, call_, bead) = (fleet.clone(), call.clone(), bead.to_owned());
    // Gates may take longer than a request.
    let work = async move { Box::pin(carry_out(&fleet_, &call_, (project, &bead))).await };
    fleet.to_its_end(work).await
}

async fn carry_out(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
) -> Result<(Entry, String)> {
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let (project, bead) = (found.project, found.value.0);
    let entry = find(fleet, call.actor.tenant, (project, &bead.id)).await?;
    if let Some(url) = entry.as_ref().and_then(|entry| entry.pull.as_ref()?.url.clone()) {
        return Err(refused(
            format!("bead {} landed by a pull request, and its branch is the forge's", bead.id),
            &format!("revert it there: {url}; then `godel bead reopen {}`", bead.id),
        ));
    }
    let known = entry.filter(|entry| {
        matches!(entry.stage, Stage::Landed | Stage::Pushing) && bead.status == BeadStatus::Done
    });
    let Some((entry, (from, to))) = known.and_then(|entry| Some((entry.clone(), entry.part?)))
    else {
        return Err(refused(
            format!("bead {} has not landed through the merge queue", bead.id),
            "only what landed can be taken back; see `godel land status --all`, or use `git revert`",
        ));
    };
    if let Some(whole) = &entry.onto
        && entry.target == Some(whole.parse::<Name>()?.branch())
        && !whole::is_part(fleet, call, (project, &bead.id)).await?
    {
        return Err(refused(
            format!("bead {} landed as a part of {whole}", bead.id),
            &format!("take back all of it: godel land revert {whole}"),
        ));
    }
    // Its bead is opened again: who may not must hear it before the branch moves.
    call.may("bead", "update", Reach::Own)?;
    let own = Some(&call.actor.name);
    if bead.created_by.as_ref() != own && bead.agent.as_ref() != own {
        call.may("bead", "update", Reach::Team)?;
    }
    let (_, folder) = fleet.project(call, project).await?;
    let wanted = wishes::read(fleet, folder.clone()).await?;
    let target = entry.target.clone().unwrap_or_default();
    let (fleet_, tenant) = (fleet.clone(), call.actor.tenant);
    let ride = Ride { fleet: fleet_, tenant, project, folder, wanted, target, upstream: None };
    let message = Message {
        bead: bead.id.parse::<Name>()?,
        title: format!("Revert \"{}\" ({})", bead.title, bead.id),
        body: format!(
            "This takes back {to}, on the wish of {}.\n\nReverts-Bead: {}",
            call.actor.name, bead.id
        ),
        author: author(),
    };
    let commit = take_back(&ride, &Span { from, to }, &message).await?;
    let open = beads::Move {
        status: Some(BeadStatus::Open),
        reason: Some(format!("it was taken back by {}", commit.get(..10).unwrap_or(&commit))),
        force: true,
        ..beads::Move::default()
    };
    beads::move_to(fleet.app(), call, Some(project), &bead.id, open).await?;
    let (app, call_, now, by) =
        (fleet.app().clone(), call.clone(), fleet.app().clock.now(), commit.clone());
    let work = move |tx: &mut Tx<'_>, entry: &mut Entry| {
        entry.end(Stage::Reverted, now);
        entry.why = Some(format!("{} took it back by {by}", call_.actor.name));
        entry.undone = entry.part.take();
        queue::tell(&app, &call_, tx, "landing:reverted", entry)
    };
    let changed = paper::change::<Entry, ()>(fleet.app(), tenant, entry.id, work).await?;
    fleet.own.moved.notify_waiters();
    Ok((changed.0, commit))
}

async fn take_back(ride: &Ride, span: &Span, message: &Message) -> Result<String> {
    let one_at_a_time =
        Arc::clone(lock(&ride.fleet.own.landings).entry(ride.folder.clone()).or_default());
    let _turn = one_at_a_time.lock().await;
    for _ in 0..TRIES {
        let (span, message, target) = (span.clone(), message.clone(), ride.target.clone());
        let prepared = ride
            .fleet
            .at_bench(ride.folder.clone(), move |bench| {
                bench.landing().undo(&span, &target, &message)
            })
            .await?;
        let undo: Merge = match prepared {
            Prepared::AlreadyThere { target } => return Ok(target),
            Prepared::Conflict { files } => {
                return Err(refused(
                    format!("others have built on it in {}", files.join(", ")),
                    "take those back first, or give an agent the task to undo it",
                ));
            }
            Prepared::Ready(undo) => undo,
        };
        let results = judge::judge(ride, &undo).await?;
        if let Some(why) = judge::failure(&ride.wanted, &results) {
            return Err(refused(
                format!("without it {why}"),
                "others depend on it: give an agent the task to undo it",
            ));
        }
        let last = undo.clone();
        let moved = ride
            .fleet
            .at_bench(ride.folder.clone(), move |bench| bench.landing().finish(&last))
            .await?;
        match moved {
            Landed::Done => return Ok(undo.commit),
            Landed::Moved { .. } => {}
            Landed::Blocked { why } => return Err(refused(why, "then say it again")),
        }
    }
    Err(refused("the branch moves all the time".to_owned(), "try again"))
}

fn refused(why: String, hint: &str) -> Error {
    Error::refused(code::LANDING_REFUSED, why, hint)
}
