//! Intents: what somebody wants in words, what was understood, and what came of it.

mod act;
mod doc;
mod history;
mod planner;
mod scene;
mod start;
mod status;
mod submit;

use godel_app::Call;
use godel_fleet::{Fleet, paper};
use godel_model::{Reach, code};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

pub use doc::{Deed, Facts, PlannedBy, Source, State, Wanted, Wish};
pub use start::{Go, start};
pub use submit::{New, answer, submit};

use crate::{Error, Result};

/// Finds an intent, in a project in which the caller works.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "studio.intents.find", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn find(fleet: &Fleet, call: &Call, name: &str) -> Result<Wish> {
    call.may("bead", "read", Reach::Team)?;
    let missing = || <Wish as paper::Filed>::missing(name.to_owned());
    let id = Uuid::try_parse(name).map_err(|_| missing())?;
    let found = paper::look(fleet.app(), call.actor.tenant, move |tx| paper::by_id::<Wish>(tx, id));
    let found = found.await?.filter(|wish| call.actor.works_in(wish.project));
    found.ok_or_else(missing)
}

/// Lists intents, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "studio.intents.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Wish>> {
    call.may("bead", "read", Reach::Team)?;
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        let page = |from, limit| paper::page::<Wish>(tx, from, limit);
        paper::gather((before, limit), page, |wish| actor.works_in(wish.project))
    })
    .await
}

/// Puts a plan aside that was not started.
///
/// # Errors
/// If the caller may not, there is none, or it was started.
#[instrument(level = "debug", name = "studio.intents.cancel", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn cancel(fleet: &Fleet, call: &Call, name: &str) -> Result<Wish> {
    call.may("agent", "create", Reach::Own)?;
    let found = find(fleet, call, name).await?;
    may_lead(call, &found)?;
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>, wish: &mut Wish| {
        match wish.state {
            State::Asking | State::Planned => wish.state = State::Cancelled,
            State::Cancelled => return Ok(()),
            State::Starting | State::Started | State::Answered => return Err(over(wish)),
        }
        let told = serde_json::json!({ "id": wish.id, "state": wish.state.as_str() });
        let event = call_.event(&app, "intent:cancelled", &told, ("intentId", wish.id));
        Ok(call_.tell(&app, tx, event)?)
    };
    Ok(paper::change::<Wish, ()>(fleet.app(), call.actor.tenant, found.id, work).await?.0)
}

/// Refuses to lead what somebody else wants to those who may lead only their own.
fn may_lead(call: &Call, wish: &Wish) -> Result<()> {
    if wish.user != call.actor.user {
        call.may("agent", "execute", Reach::Team)?;
    }
    Ok(())
}

/// Says that it is too late.
fn over(wish: &Wish) -> Error {
    let hint = match &wish.convoy {
        Some(convoy) if wish.state == State::Started => {
            format!("stop what it started: godel convoy stop {convoy}")
        }
        _ => format!("godel do --show {} tells how it stands", wish.id),
    };
    Error::refused(
        code::INTENT_STATE,
        format!("intent {} is {}", wish.id, wish.state.as_str()),
        hint,
    )
}
