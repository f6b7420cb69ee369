//! What needs a person: questions of agents, agents that are stuck, work to look at.

use std::time::Duration;

use godel_app::Call;
use godel_model::{Reach, TenantId};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

use crate::doc::Agent;
use crate::run::Order;
use crate::slips::{Notice, NoticeKind};
use crate::{Error, Fleet, Result, agents, mail, paper};

/// The longest that somebody waits for an answer in one request.
pub const WAIT_MAX: Duration = Duration::from_secs(55);
/// The most choices of a question.
const CHOICES_MAX: usize = 20;
/// How many notices are looked at together to count them.
const COUNT_PAGE: usize = 500;
/// How many notices of one agent may be open.
const OPEN_MAX: usize = 20;

/// Says that a person is needed.
///
/// # Errors
/// If the database fails.
pub fn raise(
    fleet: &Fleet,
    tx: &mut Tx<'_>,
    agent: &Agent,
    kind: NoticeKind,
    (text, choices): (&str, &[String]),
) -> Result<Notice> {
    let app = fleet.app();
    let own = agent.id.to_string();
    let open = paper::of::<Notice>(tx, &own, None, 100)?;
    let open: Vec<Notice> = open.into_iter().filter(|notice| notice.open).collect();
    // One notice for one trouble: whoever was told once need not be told again.
    let same = open.iter().find(|notice| notice.kind == kind && kind != NoticeKind::Question);
    if let Some(known) = same.or(open.get(OPEN_MAX)) {
        return Ok(known.clone());
    }
    let notice = Notice {
        id: app.mint.id::<godel_model::EventId>().uuid(),
        kind,
        open: true,
        agent: Some(agent.id),
        label: Some(agent.label.clone()),
        project: agent.project,
        bead: Some(agent.bead.clone()),
        text: godel_agents::clip(text, mail::TEXT_MAX_CHARS),
        choices: choices.iter().take(CHOICES_MAX).cloned().collect(),
        answer: None,
        created_at: app.clock.now(),
    };
    paper::insert(tx, &notice)?;
    let told = serde_json::json!({
        "notice": notice.id, "kind": kind.as_str(), "text": notice.text, "choices": notice.choices,
    });
    fleet.record(tx, agent, "agent:needs:person", &told)?;
    Ok(notice)
}

/// Closes all notices of an agent, because they are of no use any more, and tells of each.
///
/// # Errors
/// If the database fails.
pub fn close(fleet: &Fleet, tx: &mut Tx<'_>, agent: &Agent, kinds: &[NoticeKind]) -> Result<()> {
    for notice in closed(tx, agent, kinds)? {
        let told = serde_json::json!({ "notice": notice.id, "kind": notice.kind.as_str() });
        fleet.record(tx, agent, "agent:notice:closed", &told)?;
    }
    Ok(())
}

/// Closes all notices of an agent where something else that is told takes their place.
///
/// # Errors
/// If the database fails.
pub fn close_all(tx: &mut Tx<'_>, agent: &Agent, kinds: &[NoticeKind]) -> Result<()> {
    closed(tx, agent, kinds).map(drop)
}

fn closed(tx: &mut Tx<'_>, agent: &Agent, kinds: &[NoticeKind]) -> Result<Vec<Notice>> {
    let mut found = paper::of::<Notice>(tx, &agent.id.to_string(), None, 100)?;
    found.retain(|notice| notice.open && kinds.contains(&notice.kind));
    for notice in &found {
        paper::change_in::<Notice, ()>(tx, notice.id, |_, notice| {
            notice.open = false;
            Ok(())
        })?;
    }
    Ok(found)
}

/// Counts what needs a person: as many as the list has, however long it is.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.inbox.count", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn count(fleet: &Fleet, call: &Call) -> Result<u64> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        if actor.projects.is_empty() {
            let states = tx.papers(<Notice as paper::Filed>::KIND).count()?;
            let open = states.into_iter().find(|(state, _)| state == "open");
            return Ok(open.map_or(0, |(_, count)| u64::try_from(count).unwrap_or(0)));
        }
        let (mut counted, mut from) = (0, None);
        loop {
            let page: Vec<Notice> = paper::in_state(tx, "open", from, COUNT_PAGE)?;
            counted += page.iter().filter(|notice| actor.works_in(notice.project)).count();
            from = page.last().map(|notice| notice.id);
            if page.len() < COUNT_PAGE {
                return Ok(u64::try_from(counted).unwrap_or(u64::MAX));
            }
        }
    })
    .await
}

/// Lists what needs a person, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.inbox.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    all: bool,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Notice>> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        let page = |from, limit| match all {
            true => paper::page::<Notice>(tx, from, limit),
            false => paper::in_state(tx, "open", from, limit),
        };
        paper::gather((before, limit), page, |notice| actor.works_in(notice.project))
    })
    .await
}

/// Answers, or lets the agent decide by itself.
///
/// # Errors
/// If the caller may not, or it was answered already.
#[instrument(level = "debug", name = "fleet.inbox.answer", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn answer(
    fleet: &Fleet,
    call: &Call,
    id: Uuid,
    answer: Option<String>,
) -> Result<Notice> {
    call.may("agent", "execute", Reach::Own)?;
    if let Some(text) = &answer {
        mail::check_text(text)?;
    }
    let (app, call_, fleet_) = (fleet.app(), call.clone(), fleet.clone());
    let told = answer.clone();
    let work = move |tx: &mut Tx<'_>, notice: &mut Notice| {
        let actor = &call_.actor;
        if !notice.open || !actor.works_in(notice.project) {
            return Err(Error::NoNotice(notice.id.to_string()));
        }
        notice.open = false;
        notice.answer.clone_from(&told);
        if let Some(agent) = notice.agent {
            let agent = paper::by_id::<Agent>(tx, agent.uuid())?;
            if let Some(agent) = agent {
                agents::may_lead(&call_, &agent)?;
                let told = serde_json::json!({ "notice": notice.id, "by": actor.name });
                fleet_.record(tx, &agent, "agent:answered", &told)?;
            }
        }
        Ok(())
    };
    let (notice, ()) = paper::change::<Notice, ()>(app, call.actor.tenant, id, work).await?;
    fleet.own.answered.notify_waiters();
    if let Some(agent) = notice.agent {
        fleet.tell(agent, Order::Answered(notice.clone())).await;
    }
    Ok(notice)
}

/// Reads a notice.
pub(crate) async fn get(fleet: &Fleet, tenant: TenantId, id: Uuid) -> Result<Notice> {
    let found = paper::look(fleet.app(), tenant, move |tx| paper::by_id::<Notice>(tx, id));
    found.await?.ok_or_else(|| Error::NoNotice(id.to_string()))
}

/// Waits until a question is answered, up to a time.
pub(crate) async fn wait(
    fleet: &Fleet,
    tenant: TenantId,
    id: Uuid,
    patience: Duration,
) -> Result<Notice> {
    let until = tokio::time::Instant::now() + patience.min(WAIT_MAX);
    loop {
        let answered = fleet.own.answered.notified();
        let notice = get(fleet, tenant, id).await?;
        if !notice.open || tokio::time::Instant::now() >= until {
            return Ok(notice);
        }
        // Another server may have heard the answer.
        let beat = tokio::time::Instant::now() + Duration::from_secs(1);
        let _ = tokio::time::timeout_at(beat.min(until), answered).await;
    }
}

/// Raises a notice in a transaction of its own.
pub(crate) async fn raise_now(
    fleet: &Fleet,
    tenant: TenantId,
    agent: &Agent,
    kind: NoticeKind,
    (text, choices): (String, Vec<String>),
) -> Result<Notice> {
    let (fleet_, agent) = (fleet.clone(), agent.clone());
    let work = move |tx: &mut Tx<'_>| {
        raise(&fleet_, tx, &agent, kind, (text.as_str(), choices.as_slice()))
    };
    paper::write(fleet.app(), tenant, work).await
}
