//! Attaching to agents: a shell in the sandbox of one that works, and who has control.
//!
//! The shell and the conversation of an agent have a lock each: what is typed into one does not hinder
//! whoever talks in the other. A lock belongs to a connection and is free when that ends.

mod shell;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use godel_app::{Call, events};
use godel_decide::agent::chosen;
use godel_model::{AgentId, EventFilter, Life, Reach, Report as _, Seq, UserId, code};
use godel_runtime::{Command, SandboxId, TerminalSize};
use godel_store::{Scope, Tail, Tx};
use tokio::sync::watch;
use tracing::instrument;
use uuid::Uuid;

use crate::doc::Agent;
use crate::fleet::lock;
use crate::slips::{Notice, NoticeKind};
use crate::{Error, Fleet, Result, agents, inbox, mail, paper};

pub use shell::Shell;

/// How many terminals may be open on a server.
pub const TERMINALS_MAX: usize = 64;
/// How many may look at one terminal, or follow the log of one agent.
pub const WATCHERS_MAX: usize = 32;
/// The widest and highest terminal.
pub const SIDE_MAX: u16 = 1_000;

/// What is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// The shell in its sandbox.
    Terminal,
    /// What it says and does.
    Log,
}

/// Who has control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The connection.
    pub seat: Uuid,
    /// The person.
    pub name: String,
    user: UserId,
}

/// From whom control may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeFrom {
    /// From nobody: it must be free.
    Nobody,
    /// From another connection of the same person, as of one who was cut off and comes back before that is noticed.
    Oneself,
    /// From whoever has it.
    Anybody,
}

/// All who are attached on this server, and the terminals that are open.
#[derive(Default)]
pub(crate) struct Attached {
    desks: Mutex<HashMap<(AgentId, What), Desk>>,
    shells: Mutex<HashMap<AgentId, Arc<Shell>>>,
    /// Two who come first at once get the same shell.
    opening: tokio::sync::Mutex<()>,
}

/// Where those sit who look at the same.
struct Desk {
    seats: usize,
    holder: watch::Sender<Option<Holder>>,
}

/// Somebody who is attached to an agent; to drop it is to leave.
pub struct Seat {
    fleet: Fleet,
    call: Call,
    agent: AgentId,
    label: String,
    what: What,
    id: Uuid,
    may_lead: bool,
    holder: watch::Receiver<Option<Holder>>,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Sits down at an agent. Who may read it may watch.
///
/// # Errors
/// If the caller may not, there is none, or too many watch already.
#[instrument(level = "debug", name = "fleet.attach.sit_down", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn sit_down(fleet: &Fleet, call: &Call, name: &str, what: What) -> Result<Seat> {
    call.may("agent", "read", Reach::Team)?;
    let agent = agents::find(fleet, call, name).await?;
    let may_lead =
        call.may("agent", "execute", Reach::Own).is_ok() && agents::may_lead(call, &agent).is_ok();
    let mut desks = lock(&fleet.own.attached.desks);
    let desk = desks
        .entry((agent.id, what))
        .or_insert_with(|| Desk { seats: 0, holder: watch::Sender::new(None) });
    if desk.seats >= WATCHERS_MAX {
        let why = format!("{WATCHERS_MAX} people look at {} already", agent.label);
        let hint = "wait until somebody leaves, or read `godel agent logs`";
        return Err(Error::refused(code::TOO_MANY_CONNECTIONS, why, hint));
    }
    desk.seats += 1;
    let holder = desk.holder.subscribe();
    Ok(Seat {
        fleet: fleet.clone(),
        call: call.clone(),
        agent: agent.id,
        label: agent.label,
        what,
        id: fleet.app().mint.id::<AgentId>().uuid(),
        may_lead,
        holder,
    })
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut desks = lock(&self.fleet.own.attached.desks);
        let key = (self.agent, self.what);
        let Some(desk) = desks.get_mut(&key) else { return };
        desk.seats -= 1;
        let id = self.id;
        desk.holder.send_if_modified(|holder| {
            let own = holder.as_ref().is_some_and(|one| one.seat == id);
            if own {
                *holder = None;
            }
            own
        });
        if desk.seats == 0 {
            desks.remove(&key);
        }
    }
}

impl Seat {
    /// Returns the id of this seat.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Returns the agent.
    pub fn agent(&self) -> AgentId {
        self.agent
    }

    /// Returns the name of the agent.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Tells whether whoever sits here may have control.
    pub fn may_lead(&self) -> bool {
        self.may_lead
    }

    /// Returns who has control; [`Self::control_changed`] waits for what comes after it.
    pub fn holder(&mut self) -> Option<Holder> {
        self.holder.borrow_and_update().clone()
    }

    /// Tells whether this seat has control.
    pub fn has_control(&self) -> bool {
        self.holder.borrow().as_ref().is_some_and(|holder| holder.seat == self.id)
    }

    /// Waits until somebody else has control, or nobody; safe to cancel.
    pub async fn control_changed(&mut self) {
        if self.holder.changed().await.is_err() {
            // The desk is there as long as the seat; if it is not, nothing will change.
            std::future::pending::<()>().await;
        }
    }

    /// Takes control.
    ///
    /// # Errors
    /// If the caller may not lead the agent, or somebody has control from whom it is not taken.
    pub fn take_control(&self, from: TakeFrom) -> Result<()> {
        self.refuse_watcher()?;
        let desks = lock(&self.fleet.own.attached.desks);
        let Some(desk) = desks.get(&(self.agent, self.what)) else { return Ok(()) };
        let actor = &self.call.actor;
        let own = Holder { seat: self.id, name: actor.name.clone(), user: actor.user };
        let may = |other: &Holder| match from {
            TakeFrom::Nobody => false,
            TakeFrom::Oneself => other.user == own.user,
            TakeFrom::Anybody => true,
        };
        let mut taken_by = None;
        desk.holder.send_if_modified(|holder| match holder {
            Some(other) if other.seat == own.seat => false,
            Some(other) if !may(other) => {
                taken_by = Some(other.name.clone());
                false
            }
            _ => {
                *holder = Some(own.clone());
                true
            }
        });
        match taken_by {
            None => Ok(()),
            Some(name) => Err(Error::refused(
                code::CONTROL_HELD,
                format!("{name} has control"),
                "wait until it is free, or take it by force (--take)",
            )),
        }
    }

    /// Lets others have control.
    pub fn release_control(&self) {
        let desks = lock(&self.fleet.own.attached.desks);
        let Some(desk) = desks.get(&(self.agent, self.what)) else { return };
        desk.holder.send_if_modified(|holder| {
            let own = holder.as_ref().is_some_and(|one| one.seat == self.id);
            if own {
                *holder = None;
            }
            own
        });
    }

    /// Refuses those who do not have control.
    ///
    /// # Errors
    /// If this seat does not have control.
    pub fn refuse_without_control(&self) -> Result<()> {
        self.refuse_watcher()?;
        if self.has_control() {
            return Ok(());
        }
        let why = match &*self.holder.borrow() {
            Some(other) => format!("{} has control", other.name),
            None => "nobody has control".to_owned(),
        };
        Err(Error::refused(code::CONTROL_HELD, why, "take control first (--take)"))
    }

    fn refuse_watcher(&self) -> Result<()> {
        if self.may_lead {
            return Ok(());
        }
        // Whoever may lead no agent at all is told so in the same words as everywhere.
        self.call.may("agent", "execute", Reach::Own)?;
        Ok(self.call.may("agent", "execute", Reach::Team)?)
    }

    async fn look(&self) -> Result<Agent> {
        agents::find(&self.fleet, &self.call, &self.agent.to_string()).await
    }

    /// Returns the shell in the agent's sandbox; the first who may lead it and wants to type opens it.
    ///
    /// # Errors
    /// If the agent does not work now, the terminal of the given id is gone, or nobody may open one.
    pub async fn shell(
        &self,
        wanted: Option<Uuid>,
        (open, size): (bool, TerminalSize),
    ) -> Result<Arc<Shell>> {
        let attached = &self.fleet.own.attached;
        let _one = attached.opening.lock().await;
        let known = lock(&attached.shells).get(&self.agent).cloned();
        if let Some(wanted) = wanted {
            return known.filter(|shell| shell.id() == wanted).ok_or_else(|| {
                Error::refused(
                    code::SANDBOX_STATE,
                    format!("this terminal of {} has ended", self.label),
                    "a terminal ends with its agent and its server; attach again for a new one",
                )
            });
        }
        let agent = self.look().await?;
        self.refuse_idle(&agent)?;
        if let Some(shell) = known.filter(|shell| !shell.terminal().is_over()) {
            return Ok(shell);
        }
        if !open {
            let why = format!("nobody has opened a terminal at {}", self.label);
            let hint = "attach without --watch to open one";
            return Err(Error::refused(code::SANDBOX_STATE, why, hint));
        }
        self.refuse_watcher()?;
        self.open(&agent, size).await
    }

    /// Refuses agents that have no sandbox with life in it, or not here.
    fn refuse_idle(&self, agent: &Agent) -> Result<()> {
        let name = &agent.label;
        let (why, hint) = match agent.life {
            Life::Executing | Life::Waiting | Life::Completing => {
                if self.fleet.leads(agent.id) {
                    return Ok(());
                }
                let why = format!("{name} works on another server");
                (why, "attach there, or follow its log without --terminal".to_owned())
            }
            Life::Initializing | Life::Spawning => {
                let why = format!("{name} has not begun to work");
                (why, "try again in a moment".to_owned())
            }
            Life::Paused => (
                format!("{name} is paused, and has no processes"),
                format!("resume it first: godel agent resume {name}"),
            ),
            Life::Completed | Life::Failed | Life::Killed => (
                format!("{name} has ended: it is {}", agent.life),
                "its worktree is on the disk; its log can be read: godel agent logs".to_owned(),
            ),
        };
        Err(Error::refused(code::AGENT_STATE, why, hint))
    }

    async fn open(&self, agent: &Agent, size: TerminalSize) -> Result<Arc<Shell>> {
        let attached = &self.fleet.own.attached;
        {
            let mut shells = lock(&attached.shells);
            if shells.len() >= TERMINALS_MAX {
                shells.retain(|_, shell| !shell.terminal().is_over());
            }
            if shells.len() >= TERMINALS_MAX {
                let why = format!("this server has {TERMINALS_MAX} open terminals already");
                let hint = "end one: type exit in it";
                return Err(Error::refused(code::TOO_MANY_CONNECTIONS, why, hint));
            }
        }
        let runtime = self.fleet.runtime(&agent.runtime)?;
        let command = Command::shell("exec \"$(command -v bash || command -v sh)\" -i")
            .env("TERM", "xterm-256color")
            .with_terminal(size);
        let process = runtime.exec(SandboxId::of(agent.id), &command).await;
        let process = process.map_err(|error| match error.code() {
            // A built-in agent asks its model while its place is made.
            code::SANDBOX_NOT_FOUND => {
                let why = format!("{} has no place now: it is being made, or was", agent.label);
                Error::refused(code::AGENT_STATE, why, "try again in a moment, or see its log")
            }
            _ => error.into(),
        })?;
        let terminal = process.terminal.clone().ok_or_else(|| {
            Error::refused(
                code::SANDBOX_UNAVAILABLE,
                format!("agents that work in \"{}\" have no terminals", agent.runtime),
                "use the runtime worktree, or follow the log",
            )
        })?;
        let shell = Arc::new(Shell::new(process, terminal, size));
        lock(&attached.shells).insert(agent.id, Arc::clone(&shell));
        if !self.fleet.leads(agent.id) {
            // Its run ended in this very moment, and nobody else would clear it away.
            self.fleet.close_terminal(agent.id);
        }
        let told = serde_json::json!({ "by": self.call.actor.name, "terminal": shell.id() });
        let (event, call) = (self.fleet.event(agent, "agent:terminal", &told), self.call.clone());
        let app = self.fleet.app().clone();
        let work = move |tx: &mut Tx<'_>| Ok::<_, Error>(call.tell(&app, tx, event.clone())?);
        let scope = Scope::Tenant(self.call.actor.tenant);
        self.fleet.app().store.write(scope, work).await?;
        Ok(shell)
    }

    /// Follows what the agent says and does, from behind a position.
    ///
    /// # Errors
    /// If the caller may not, or the log ends before the position.
    pub async fn follow(&self, after: Option<i64>) -> Result<Tail> {
        let agent = self.look().await?;
        let fields = [("agentId".to_owned(), agent.id.to_string())].into();
        let filter = EventFilter::new(Vec::new(), fields)?;
        let from = Seq(after.unwrap_or(agent.log_from).max(agent.log_from));
        Ok(events::follow(self.fleet.app(), &self.call, Some(from), filter).await?)
    }

    /// Says how the agent ended, if it has; else nothing. It may still say its last words if it is
    /// about to end.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn ended(&self) -> Result<Option<Ended>> {
        let life = match self.look().await {
            Ok(agent) if agent.life.is_over() || agent.life == Life::Failed => agent.life.as_str(),
            Ok(_) => return Ok(None),
            Err(Error::NoAgent(_)) => "deleted",
            Err(error) => return Err(error),
        };
        if self.fleet.leads(self.agent) {
            return Ok(Some(Ended::Soon));
        }
        Ok(Some(Ended::Now(format!("{} has ended: it is {life}", self.label))))
    }

    /// Says why a terminal has ended, in words.
    pub async fn why_over(&self, code: Option<i32>) -> String {
        match self.look().await {
            Ok(agent) => match (self.refuse_idle(&agent), code) {
                (Err(error), _) => error.to_string(),
                (Ok(()), Some(code)) => format!("the shell has ended with code {code}"),
                (Ok(()), None) => "the shell was ended".to_owned(),
            },
            Err(_) => format!("{} is gone", self.label),
        }
    }

    /// Tells the agent something: the answer if it asks, else a message that it reads at the next safe
    /// point. Only for who has control.
    ///
    /// # Errors
    /// If the caller does not have control, or the agent has ended.
    pub async fn say(&self, text: String) -> Result<()> {
        self.refuse_without_control()?;
        let agent = self.look().await?;
        if agent.life == Life::Waiting
            && let Some(notice) = self.question(&agent).await?
        {
            let answer = chosen(&notice.choices, text);
            return inbox::answer(&self.fleet, &self.call, notice.id, Some(answer)).await.map(drop);
        }
        mail::message(&self.fleet, &self.call, &agent.label, text).await.map(drop)
    }

    /// Returns what the agent asks and has no answer to, the oldest first.
    async fn question(&self, agent: &Agent) -> Result<Option<Notice>> {
        let of = agent.id.to_string();
        paper::look(self.fleet.app(), self.call.actor.tenant, move |tx| {
            let all = paper::of::<Notice>(tx, &of, None, 100)?;
            Ok(all.into_iter().rev().find(|one| one.open && one.kind == NoticeKind::Question))
        })
        .await
    }
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It is about to.
    Soon,
    /// It has; in words.
    Now(String),
}

impl Fleet {
    /// Forgets the terminal of an agent whose run is over; its processes have ended with the sandbox.
    pub(crate) fn close_terminal(&self, agent: AgentId) {
        lock(&self.own.attached.shells).remove(&agent);
    }
}
