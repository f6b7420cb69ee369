//! Changing beads.

use godel_beads::ops::{self, Advance, Changes, Claim, Close, Landing, NewBead, Verdict};
use godel_beads::{Bead, Draft};
use godel_model::{BeadId, BeadStatus, LinkKind, ProjectId, Reach, Resolution};
use tracing::instrument;

use super::Placed;
use super::access::{Allowed, Asked, Noun, change, find, record, shelf_for_new};
use crate::once::{Outcome, once};
use crate::{App, Call, Error, Result};

/// As if there were so many beads: an id that is chosen without looking is long enough to be free.
const SELDOM_TAKEN: u64 = 1_000_000_000;

/// Chooses the id of a bead that is made later, so that it can be written down before.
pub fn new_id(app: &App) -> String {
    BeadId::mint(app.mint, SELDOM_TAKEN).to_string()
}

/// Makes a bead; with an idempotency key, once.
///
/// # Errors
/// If a text does not fit, or what it names is not there.
#[instrument(level = "debug", name = "app.beads.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    mut new: NewBead,
) -> Result<Placed<Bead>> {
    call.may("bead", "create", Reach::Own)?;
    let shelved = shelf_for_new(app, call, project).await?;
    if call.once.is_some() {
        // The id is remembered before git is written, so that a retry makes no second bead.
        let id = new_id(app);
        new.id = Some(match once(app, call, move |_| Ok(id.clone())).await? {
            Outcome::Fresh(written) => written.value,
            Outcome::Known(id) => id,
        });
    }
    let allowed = Allowed::of(call, "bead", "update");
    let inside = allowed.clone();
    let made = shelved.shelf.write(&call.actor.name, move |draft| {
        for other in &new.blocks {
            // To make another wait is to change it.
            if !inside.covers(&draft.look(other)?) {
                return Ok(None);
            }
        }
        let bead = ops::create(draft, &new)?;
        let tag = draft.tag(&bead.id)?;
        Ok(Some((bead, tag)))
    });
    let Some((bead, tag)) = made.await? else { return Err(allowed.refusal()) };
    record(app, call, "bead:create", format!("bead/{}", bead.id)).await?;
    Ok(Placed { project: shelved.project, value: bead, tag: Some(tag) })
}

/// Says which bead is to be changed.
fn bead<'a>(
    (app, call): (&'a App, &'a Call),
    project: Option<ProjectId>,
    name: &'a str,
    action: &'static str,
) -> Asked<'a> {
    Asked { app, call, project, noun: Noun::Bead, name, action, token: None }
}

/// Changes what a bead says.
///
/// # Errors
/// If it is not there, not the caller's, or has changed since the caller read it.
#[instrument(level = "debug", name = "app.beads.update", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn update(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    changes: Changes,
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let asked = bead((app, call), project, name, "update");
    change(asked, move |draft, id| ops::update(draft, id, &changes)).await
}

/// Deletes a bead.
///
/// # Errors
/// If it is not there, somebody holds it, or it has changed since the caller read it.
#[instrument(level = "debug", name = "app.beads.delete", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn delete(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    if_match: Option<Vec<String>>,
) -> Result<()> {
    call.may("bead", "delete", Reach::Own)?;
    let asked = bead((app, call), project, name, "delete");
    let work =
        move |draft: &mut Draft<'_>, id: &str| ops::delete(draft, id, false, if_match.as_deref());
    change(asked, work).await.map(|_| ())
}

/// Gives a bead to an agent.
///
/// # Errors
/// If it is done, or another holds it.
#[instrument(level = "debug", name = "app.beads.assign", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn assign(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    (agent, start): (String, bool),
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let asked = bead((app, call), project, name, "update");
    change(asked, move |draft, id| ops::assign(draft, id, &agent, start)).await
}

/// Claims a bead, or the first that is ready if none is named.
///
/// # Errors
/// If somebody holds it, or nothing is ready.
#[instrument(level = "debug", name = "app.beads.claim", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn claim(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: Option<&str>,
    (agent, secs): (String, u64),
) -> Result<Placed<Claim>> {
    call.may("bead", "execute", Reach::Own)?;
    let (shelved, id) = match name {
        Some(name) => {
            let (shelved, id) = find(app, call, project, Noun::Bead, name).await?;
            (shelved, Some(id))
        }
        None => (shelf_for_new(app, call, project).await?, None),
    };
    let claimed = shelved.shelf.write(&call.actor.name, move |draft| match &id {
        Some(id) => ops::claim(draft, id, &agent, secs),
        None => ops::claim_next(draft, &agent, secs),
    });
    let claim = claimed.await?;
    record(app, call, "bead:claim", format!("bead/{}", claim.bead.id)).await?;
    Ok(Placed { project: shelved.project, value: claim, tag: None })
}

/// Extends a claim.
///
/// # Errors
/// If the token is not that of the claim that holds the bead.
#[instrument(level = "debug", name = "app.beads.heartbeat", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn heartbeat(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    (token, secs): (String, u64),
) -> Result<Placed<Bead>> {
    call.may("bead", "execute", Reach::Own)?;
    // The token is the proof; it does not matter who made the bead.
    let (shelved, id) = find(app, call, project, Noun::Bead, name).await?;
    let by = call.actor.name.clone();
    let kept = shelved.shelf.write(&by, move |draft| ops::heartbeat(draft, &id, &token, secs));
    Ok(Placed { project: shelved.project, value: kept.await?, tag: None })
}

/// Gives a bead back.
///
/// # Errors
/// If another holds it.
#[instrument(level = "debug", name = "app.beads.release", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn release(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    (token, force): (Option<String>, bool),
) -> Result<Placed<Bead>> {
    call.may("bead", "execute", Reach::Own)?;
    let action = if token.is_some() { "execute" } else { "update" };
    let asked = Asked { token: token.clone(), ..bead((app, call), project, name, action) };
    change(asked, move |draft, id| ops::release(draft, id, token.as_deref(), force)).await
}

/// Says something about a bead; returns the id of the comment.
///
/// # Errors
/// If the text does not fit.
#[instrument(level = "debug", name = "app.beads.comment", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn comment(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    text: String,
) -> Result<Placed<String>> {
    call.may("bead", "create", Reach::Own)?;
    // Whoever may make beads may speak about all that it sees.
    let (shelved, id) = find(app, call, project, Noun::Bead, name).await?;
    let within = id.clone();
    let by = call.actor.name.clone();
    let said = shelved.shelf.write(&by, move |draft| ops::comment(draft, &within, &text));
    let value = said.await?;
    record(app, call, "bead:comment", format!("bead/{id}")).await?;
    Ok(Placed { project: shelved.project, value, tag: None })
}

/// Links a bead to another.
///
/// # Errors
/// If one is not there, or the link would close a circle.
#[instrument(level = "debug", name = "app.beads.link", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn link(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    (kind, target): (LinkKind, String),
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let asked = bead((app, call), project, name, "update");
    change(asked, move |draft, id| ops::link(draft, id, kind, &target)).await
}

/// Removes links of a bead to another.
///
/// # Errors
/// If there is no such link.
#[instrument(level = "debug", name = "app.beads.unlink", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn unlink(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    (kind, target): (Option<LinkKind>, String),
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let asked = bead((app, call), project, name, "update");
    change(asked, move |draft, id| ops::unlink(draft, id, kind, &target)).await
}

/// Records what a gate said about the work of a bead.
///
/// # Errors
/// If it is not there, or not the caller's.
#[instrument(level = "debug", name = "app.beads.judge", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn judge(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    verdict: Verdict,
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let asked = bead((app, call), project, name, "update");
    change(asked, move |draft, id| ops::record_verdict(draft, id, &verdict)).await
}

/// Ends a bead whose work has landed.
///
/// # Errors
/// If it is not there, or not the caller's.
#[instrument(level = "debug", name = "app.beads.finish", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn finish(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    landing: Landing,
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let asked = bead((app, call), project, name, "update");
    change(asked, move |draft, id| ops::finish(draft, id, &landing)).await
}

/// Where a bead should go.
#[derive(Debug, Clone, Default)]
pub struct Move {
    /// The status; not needed with a resolution.
    pub status: Option<BeadStatus>,
    /// Why it is closed.
    pub resolution: Option<Resolution>,
    /// The sentence for it.
    pub reason: Option<String>,
    /// The token of the claim.
    pub token: Option<String>,
    /// Though it is not earned.
    pub force: bool,
}

/// Moves a bead through its life.
///
/// # Errors
/// If the status is not earned; says what is missing.
#[instrument(level = "debug", name = "app.beads.move_to", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn move_to(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    wanted: Move,
) -> Result<Placed<Bead>> {
    call.may("bead", "update", Reach::Own)?;
    let (shelved, id) = find(app, call, project, Noun::Bead, name).await?;
    let within = id.clone();
    // git is asked before the turn to write comes, so that others need not wait for it.
    let evidence = shelved.shelf.read(move |shelf| {
        let bead = Bead::of(&shelf.bead(&within)?);
        shelf.evidence(&bead)
    });
    let evidence = evidence.await?;
    let token = wanted.token.clone();
    let project = Some(shelved.project);
    let asked = Asked { token, ..bead((app, call), project, &id, "update") };
    if let Some(resolution) = wanted.resolution {
        let (reason, token, force) = (wanted.reason, wanted.token, wanted.force);
        let close = Close { resolution, reason, token, force, evidence };
        return change(asked, move |draft, id| ops::close(draft, id, &close)).await;
    }
    let to = wanted.status.ok_or_else(|| Error::invalid("say the `status`, or a `resolution`"))?;
    let reason = wanted.reason.unwrap_or_else(|| "moved by force".to_owned());
    let force = wanted.force.then_some(reason);
    let advance = Advance { to, token: wanted.token, force, evidence };
    change(asked, move |draft, id| ops::advance(draft, id, &advance)).await
}
