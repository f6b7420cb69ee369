//! Mail between agents and people.

use godel_app::Call;
use godel_model::{AgentId, Life, Reach, TenantId, UserName, code};
use godel_store::{Scope, Tx};
use tracing::instrument;
use uuid::Uuid;

use crate::doc::Agent;
use crate::run::Order;
use crate::slips::Letter;
use crate::{Error, Fleet, Result, agents, paper};

/// How many letters may wait in one box.
pub const BOX_MAX: usize = 200;
/// The most characters of a letter.
pub const TEXT_MAX_CHARS: usize = 20_000;

/// Returns the box of an agent.
pub(crate) fn box_of(agent: AgentId) -> String {
    format!("agent:{agent}")
}

pub(crate) fn check_text(text: &str) -> Result<()> {
    if text.trim().is_empty() || text.chars().count() > TEXT_MAX_CHARS {
        return Err(Error::refused(
            code::INVALID_FIELD,
            format!("a letter has 1 to {TEXT_MAX_CHARS} characters"),
            "write a file into the worktree, and a letter that names it",
        ));
    }
    Ok(())
}

/// Sends a letter to an agent or a person.
///
/// # Errors
/// If the caller may not, nobody is called so, or the box is full.
#[instrument(level = "debug", name = "fleet.mail.send", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn send(fleet: &Fleet, call: &Call, to: &str, text: String) -> Result<Letter> {
    call.may("agent", "execute", Reach::Own)?;
    let sender = call.clone();
    let known = move |agent: &Agent| {
        let seen = sender.actor.works_in(agent.project);
        if seen { agents::may_lead(&sender, agent).map(|()| true) } else { Ok(false) }
    };
    deliver(fleet, call.actor.tenant, (&call.actor.name, known), (to, text)).await
}

/// Sends a letter of an agent; it knows the agents of its own project, but not those that try the same.
pub(crate) async fn send_for(
    fleet: &Fleet,
    tenant: TenantId,
    agent: &Agent,
    letter: (&str, String),
) -> Result<Letter> {
    let (from, own) = (format!("agent:{}", agent.label), agent.clone());
    let known = move |other: &Agent| Ok(other.project == own.project && !own.is_rival_of(other));
    deliver(fleet, tenant, (&from, known), letter).await
}

/// Puts a letter into the box of a person, or of an agent that the sender knows, and rings.
pub(crate) async fn deliver(
    fleet: &Fleet,
    tenant: TenantId,
    (from, known): (&str, impl Fn(&Agent) -> Result<bool> + Send + Sync + 'static),
    (to, text): (&str, String),
) -> Result<Letter> {
    check_text(&text)?;
    let app = fleet.app();
    let (id, now) = (app.mint.id::<AgentId>().uuid(), app.clock.now());
    let (from, to) = (from.to_owned(), to.to_owned());
    let work = move |tx: &mut Tx<'_>| {
        let found = match agents::lookup(tx, &to)? {
            Some(agent) if known(&agent)? => Some(agent),
            _ => None,
        };
        let (mailbox, named, agent) = match found {
            Some(agent) if !agent.life.is_over() => {
                (box_of(agent.id), agent.label.clone(), Some(agent))
            }
            Some(agent) => return Err(refused(format!("agent {} has ended", agent.label))),
            None => {
                let name: Option<UserName> = to.trim_start_matches("user:").parse().ok();
                let user = match name {
                    Some(name) => tx.users().by_name(tenant, &name)?,
                    None => None,
                };
                let user = user.ok_or_else(|| refused(format!("nobody is called \"{to}\"")))?;
                (format!("user:{}", user.id), format!("user:{}", user.name.as_str()), None)
            }
        };
        if paper::of::<Letter>(tx, &mailbox, None, BOX_MAX)?.len() >= BOX_MAX {
            return Err(refused(format!("{BOX_MAX} letters wait for {named} already")));
        }
        let letter = Letter {
            id,
            from: from.clone(),
            to: named,
            mailbox,
            text: text.clone(),
            sent_at: now,
            read: false,
        };
        paper::insert(tx, &letter)?;
        Ok((letter, agent))
    };
    let (letter, agent) = app.store.write(Scope::Tenant(tenant), work).await?.value;
    if let Some(agent) = agent {
        fleet.tell(agent.id, Order::Mail).await;
        announce(fleet, tenant, &agent, &letter).await?;
    }
    Ok(letter)
}

fn refused(why: String) -> Error {
    Error::refused(code::MAIL_REFUSED, why, "`godel agent list` shows the names of agents")
}

async fn announce(fleet: &Fleet, tenant: TenantId, agent: &Agent, letter: &Letter) -> Result<()> {
    let told = serde_json::json!({ "from": letter.from, "letter": letter.id });
    let event = fleet.event(agent, "agent:mail", &told);
    let work = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.record(event.clone())?);
    fleet.app().store.write(Scope::Tenant(tenant), work).await?;
    Ok(())
}

/// Takes the letters that an agent has not read, the oldest first; they count as read then.
pub(crate) async fn take(fleet: &Fleet, tenant: TenantId, agent: AgentId) -> Result<Vec<Letter>> {
    let letters = waiting(fleet, tenant, agent).await?;
    mark_read(fleet, tenant, letters.iter().map(|letter| letter.id).collect()).await?;
    Ok(letters)
}

/// Lists the letters that an agent has not read, the oldest first.
pub(crate) async fn waiting(
    fleet: &Fleet,
    tenant: TenantId,
    agent: AgentId,
) -> Result<Vec<Letter>> {
    let mailbox = box_of(agent);
    let find = move |tx: &mut Tx<'_>| paper::of::<Letter>(tx, &mailbox, None, BOX_MAX);
    let mut letters = paper::look(fleet.app(), tenant, find).await?;
    letters.reverse();
    Ok(letters)
}

/// Counts letters as read.
pub(crate) async fn mark_read(fleet: &Fleet, tenant: TenantId, letters: Vec<Uuid>) -> Result<()> {
    if letters.is_empty() {
        return Ok(());
    }
    let work = move |tx: &mut Tx<'_>| {
        for letter in &letters {
            paper::change_in::<Letter, ()>(tx, *letter, |_, letter| {
                letter.read = true;
                Ok(())
            })?;
        }
        Ok(())
    };
    paper::write(fleet.app(), tenant, work).await
}

/// Counts the letters that an agent has not read.
pub(crate) fn unread(tx: &mut Tx<'_>, agent: AgentId) -> Result<usize> {
    Ok(paper::of::<Letter>(tx, &box_of(agent), None, BOX_MAX)?.len())
}

/// Lists the letters of the caller, or of an agent, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.mail.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    agent: Option<String>,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Letter>> {
    call.may("agent", "read", Reach::Team)?;
    let (actor, tenant) = (call.actor.clone(), call.actor.tenant);
    let own = format!("user:{}", actor.user);
    paper::look(fleet.app(), tenant, move |tx| {
        let mailbox = match &agent {
            Some(name) => {
                let found = agents::lookup(tx, name)?.filter(|one| actor.works_in(one.project));
                box_of(found.ok_or_else(|| Error::NoAgent(name.clone()))?.id)
            }
            None => own.clone(),
        };
        let mut letters: Vec<Letter> = paper::of(tx, &mailbox, before, limit)?;
        letters.extend(paper::of::<Letter>(tx, &format!("{mailbox}:read"), before, limit)?);
        letters.sort_by_key(|letter| std::cmp::Reverse(letter.id));
        letters.truncate(limit);
        Ok(letters)
    })
    .await
}

/// Says something to an agent: it hears it at the next safe point.
///
/// # Errors
/// If the caller may not, there is none, or it has ended.
#[instrument(level = "debug", name = "fleet.mail.message", skip_all, fields(tenant = %call.actor.tenant, %agent))]
pub async fn message(fleet: &Fleet, call: &Call, agent: &str, text: String) -> Result<Letter> {
    call.may("agent", "execute", Reach::Own)?;
    let found = agents::find(fleet, call, agent).await?;
    agents::may_lead(call, &found)?;
    if matches!(found.life, Life::Completed | Life::Killed) {
        return Err(Error::refused(
            code::AGENT_STATE,
            format!("agent {} has ended ({})", found.label, found.life),
            "spawn another one on its bead, or fork its session",
        ));
    }
    send(fleet, call, &found.label, text).await
}
