//! What an agent can ask for itself: its bead, its list, its mail, a person, and to be done.

mod granted;

use std::time::Duration;

use godel_agents::{TODOS_MAX, Todo};
use godel_app::beads;
use godel_model::{AgentId, Life, Purpose, code};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::doc::Agent;
use crate::run::Order;
use crate::slips::{Letter, Notice, NoticeKind};
use crate::{Error, Fleet, Result, inbox, mail, paper, roles};

pub use granted::{tools, use_tool};

/// How long one request waits for the checks of work that is said to be done.
const CHECK_PATIENCE: Duration = Duration::from_secs(25);
/// The most characters of one thing to do.
const TODO_MAX_CHARS: usize = 1_000;

/// An agent as it sees itself.
#[derive(Debug, Clone)]
pub struct Own {
    /// The agent.
    pub agent: Agent,
    /// Its bead: title, description, status.
    pub bead: Option<(String, String, String)>,
    /// How many letters it has not read.
    pub unread: usize,
}

/// Finds the agent that a token belongs to.
async fn me(fleet: &Fleet, who: &Purpose) -> Result<Agent> {
    let id: AgentId = who.agent.as_deref().unwrap_or_default().parse().map_err(|_| {
        Error::refused(
            code::FORBIDDEN,
            "this token belongs to no agent of this server",
            "only agents that Godel has started can ask for this",
        )
    })?;
    let found =
        paper::look(fleet.app(), who.tenant, move |tx| paper::by_id::<Agent>(tx, id.uuid()));
    found.await?.ok_or_else(|| Error::NoAgent(id.to_string()))
}

/// Finds the agent that a token belongs to, if its role has a tool.
async fn allowed(fleet: &Fleet, who: &Purpose, tool: &str) -> Result<Agent> {
    let agent = me(fleet, who).await?;
    roles::require(fleet, who.tenant, &agent, tool).await?;
    Ok(agent)
}

/// Shows an agent itself.
///
/// # Errors
/// If the token is not that of an agent.
pub async fn show(fleet: &Fleet, who: &Purpose) -> Result<Own> {
    let agent = me(fleet, who).await?;
    let call = fleet.on_behalf(who.tenant, agent.user).await?;
    let bead = beads::get(fleet.app(), &call, Some(agent.project), &agent.bead).await.ok();
    let bead = bead
        .map(|found| found.value.0)
        .map(|bead| (bead.title, bead.description.unwrap_or_default(), bead.status.to_string()));
    let id = agent.id;
    let unread = paper::look(fleet.app(), who.tenant, move |tx| mail::unread(tx, id)).await?;
    Ok(Own { agent, bead, unread })
}

/// Takes in the list of an agent's things to do.
///
/// # Errors
/// If it is too long.
pub async fn todos(fleet: &Fleet, who: &Purpose, todos: Vec<Todo>) -> Result<()> {
    let agent = allowed(fleet, who, "todo_write").await?;
    check_todos(&todos)?;
    running(fleet, &agent, Order::Todos(todos)).await
}

/// Refuses a list of things to do that is too long.
pub(crate) fn check_todos(todos: &[Todo]) -> Result<()> {
    let long = |todo: &Todo| todo.text.chars().count() > TODO_MAX_CHARS;
    if todos.len() > TODOS_MAX || todos.iter().any(long) {
        return Err(Error::refused(
            code::INVALID_FIELD,
            format!("a list has at most {TODOS_MAX} things of {TODO_MAX_CHARS} characters"),
            "write fewer, larger ones",
        ));
    }
    Ok(())
}

/// Tells the run of an agent something; an agent that does not run is told so.
async fn running(fleet: &Fleet, agent: &Agent, order: Order) -> Result<()> {
    if fleet.tell(agent.id, order).await {
        return Ok(());
    }
    Err(not_running(agent))
}

fn not_running(agent: &Agent) -> Error {
    Error::refused(
        code::AGENT_STATE,
        format!("agent {} does not run on this server", agent.label),
        "nothing can be said for an agent that has ended or is paused",
    )
}

/// Gives an agent the letters that it has not read.
///
/// # Errors
/// If the token is not that of an agent.
pub async fn letters(fleet: &Fleet, who: &Purpose) -> Result<Vec<Letter>> {
    let agent = allowed(fleet, who, "mail_read").await?;
    mail::take(fleet, who.tenant, agent.id).await
}

/// Sends a letter of an agent.
///
/// # Errors
/// If nobody is called so, or the box is full.
pub async fn send(fleet: &Fleet, who: &Purpose, to: &str, text: String) -> Result<Letter> {
    let agent = allowed(fleet, who, "mail_send").await?;
    mail::send_for(fleet, who.tenant, &agent, (to, text)).await
}

/// Asks a person for an agent.
///
/// # Errors
/// If the question is empty or too long.
pub async fn ask(
    fleet: &Fleet,
    who: &Purpose,
    (text, choices): (String, Vec<String>),
) -> Result<Notice> {
    let agent = allowed(fleet, who, "ask_human").await?;
    mail::check_text(&text)?;
    if !fleet.leads(agent.id) {
        return Err(not_running(&agent));
    }
    let told = (text, choices);
    let notice = inbox::raise_now(fleet, who.tenant, &agent, NoticeKind::Question, told).await?;
    running(fleet, &agent, Order::Asked(notice.id)).await?;
    Ok(notice)
}

/// Waits for an answer.
///
/// # Errors
/// If there is no such question of this agent.
pub async fn answer(fleet: &Fleet, who: &Purpose, id: Uuid, patience: Duration) -> Result<Notice> {
    let agent = me(fleet, who).await?;
    let notice = inbox::wait(fleet, who.tenant, id, patience).await?;
    if notice.agent != Some(agent.id) {
        return Err(Error::NoNotice(id.to_string()));
    }
    Ok(notice)
}

/// Checks whether an agent is done; returns what is missing.
///
/// # Errors
/// If it does not run.
pub async fn done(fleet: &Fleet, who: &Purpose, summary: String) -> Result<Vec<String>> {
    let agent = me(fleet, who).await?;
    mail::check_text(&summary)?;
    if agent.life == Life::Completed {
        return Ok(Vec::new());
    }
    let (reply, heard) = oneshot::channel();
    running(fleet, &agent, Order::Done(summary, reply)).await?;
    match tokio::time::timeout(CHECK_PATIENCE, heard).await {
        Ok(Ok(missing)) => Ok(missing.0),
        Ok(Err(_)) => Err(Error::refused(
            code::AGENT_STATE,
            "the agent was stopped meanwhile",
            "nothing is lost",
        )),
        // What was checked until then is remembered, so to ask again costs nothing.
        Err(_) => Ok(vec!["the checks still run: wait a moment, then say it again".to_owned()]),
    }
}
