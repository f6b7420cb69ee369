//! Sessions of agent programs: processes in the sandbox, led over their input and output.
//!
//! Some programs live through many turns; of the others each turn is a process, and the next one goes on
//! with the session by the program's own id.

mod drive;
mod process;

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use godel_runtime::{RuntimeProvider, SandboxId};
use secrecy::SecretString;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::event::SessionEvent;
use crate::launch::{Plan, Resume};
use crate::parse::Permissions;
use crate::session::{AgentSession, Answer, PROMPT_MAX_BYTES, Turn};
use drive::Drive;

/// How many events wait for whoever listens before the agent waits too.
const EVENTS_MAX: usize = 256;
/// How many orders wait to be taken.
const ORDERS_MAX: usize = 16;

/// What a session of an agent program is made of.
#[derive(Clone)]
pub struct ProgramSettings {
    /// How it is started.
    pub plan: Plan,
    /// Where it runs.
    pub runtime: Arc<dyn RuntimeProvider>,
    /// In which sandbox.
    pub sandbox: SandboxId,
    /// A token of Godel.
    pub token: SecretString,
    /// The session to go on with.
    pub resume: Option<Resume>,
    /// Who answers if it asks whether it may.
    pub permissions: Permissions,
}

/// What the session is told to do.
#[derive(Debug)]
enum Order {
    Prompt(String),
    Answer(String, Answer),
    Cancel,
}

type Reply = oneshot::Sender<Result<()>>;

/// A session of an agent program; dropping it ends its process.
#[derive(Debug)]
pub struct ProgramSession {
    orders: mpsc::Sender<(Order, Reply)>,
    events: mpsc::Receiver<SessionEvent>,
    /// What happened while an order was on its way.
    backlog: VecDeque<SessionEvent>,
    _work: JoinSet<()>,
}

impl ProgramSession {
    /// Begins a session; nothing is started before there is something to do.
    ///
    /// # Errors
    /// If the plan is not one for a program.
    pub fn start(settings: ProgramSettings) -> Result<Self> {
        // A plan that cannot be carried out is told now and not in the middle of the work.
        settings.plan.launch("", settings.resume.as_ref())?;
        let (orders, wanted) = mpsc::channel(ORDERS_MAX);
        let (told, events) = mpsc::channel(EVENTS_MAX);
        let mut work = JoinSet::new();
        work.spawn(Drive::new(settings, told).run(wanted));
        Ok(Self { orders, events, backlog: VecDeque::new(), _work: work })
    }

    /// Gives an order and waits until it was taken; events are heard meanwhile, else an agent that waits
    /// to tell something could not take it.
    async fn order(&mut self, order: Order) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let orders = self.orders.clone();
        let given = async move {
            orders.send((order, reply)).await.map_err(|_| Error::Over)?;
            answer.await.map_err(|_| Error::Over)?
        };
        tokio::pin!(given);
        loop {
            tokio::select! {
                taken = &mut given => return taken,
                Some(event) = self.events.recv() => self.backlog.push_back(event),
            }
        }
    }
}

#[async_trait]
impl AgentSession for ProgramSession {
    async fn prompt(&mut self, turn: Turn) -> Result<()> {
        let bytes = turn.text.len();
        if bytes > PROMPT_MAX_BYTES {
            return Err(Error::TooLong { bytes, max: PROMPT_MAX_BYTES });
        }
        self.order(Order::Prompt(turn.text)).await
    }

    async fn next(&mut self) -> Result<SessionEvent> {
        if let Some(event) = self.backlog.pop_front() {
            return Ok(event);
        }
        Ok(self.events.recv().await.unwrap_or(SessionEvent::Ended { exit: None }))
    }

    async fn answer(&mut self, question: &str, answer: Answer) -> Result<()> {
        self.order(Order::Answer(question.to_owned(), answer)).await
    }

    async fn cancel(&mut self) -> Result<()> {
        self.order(Order::Cancel).await
    }
}
