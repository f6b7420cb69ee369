//! The built-in agent: a loop of asking a model and doing what it wants, in the sandbox.

mod compact;
mod hands;
mod line;
mod tools;
mod work;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use godel_llm::Dialect;
use godel_llm::translate::BadReply;
use godel_llm::translate::talk::{Item, Talk, Tool};
use godel_model::Permission;
use godel_runtime::{RuntimeProvider, Sandbox, SandboxId};
use tokio::sync::{SetOnce, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use compact::{Cut, estimate, plan};
pub use line::Line;
pub use tools::{RESULT_MAX_BYTES, TOOLS};

use crate::error::{Error, Result};
use crate::event::SessionEvent;
use crate::grant;
use crate::launch::Allowed;
use crate::session::{AgentSession, Answer, PROMPT_MAX_BYTES, Turn};
use crate::tree::{Node, NodeNumber, Tree};
use tools::Bench;
use work::Work;

/// How many events wait for whoever listens before the agent waits too.
const EVENTS_MAX: usize = 256;
/// How many prompts wait for a safe point.
const ORDERS_MAX: usize = 64;

/// What an agent is told unless its role says otherwise.
pub const SYSTEM: &str = "You are a coding agent of Godel. You work in a git worktree of your own, in a \
sandbox. Use your tools to look, to change files and to run commands; nobody else does it for you. \
Commit your work with git when it is good, in small steps with plain messages; HEAD is detached and \
that is right: do not switch branches, push, or change remotes. Keep your todos true. When all is \
committed and checked, call done with a short summary.";

/// Who answers, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voice {
    /// The dialect in which the proxy is asked.
    pub dialect: Dialect,
    /// The model.
    pub model: String,
    /// Whether it is to think, if it can.
    pub think: bool,
    /// What it can take, in tokens.
    pub window: u64,
    /// The most that it may answer at once, in tokens.
    pub max_output: u64,
    /// What it is told before the conversation; [`SYSTEM`] unless a role says otherwise.
    pub system: String,
    /// The tools that it is offered, [`TOOLS`] or some of them and what its role grants; a call of another is refused.
    pub tools: Vec<Tool>,
}

impl Voice {
    /// Asks a model with what most models can do.
    pub fn new(dialect: Dialect, model: impl Into<String>) -> Self {
        let (window, max_output) = (128_000, 8192);
        let system = SYSTEM.to_owned();
        let (model, tools) = (model.into(), TOOLS.to_vec());
        Self { dialect, model, think: false, window, max_output, system, tools }
    }

    /// Offers only tools that a role allows.
    pub fn only(&mut self, allowed: &Allowed) {
        self.tools.retain(|tool| allowed.allows(tool.name));
    }

    /// Offers what the permissions of a role give, too.
    pub fn grant(&mut self, permissions: &[Permission]) {
        self.tools.extend(grant::given(permissions).map(|grant| grant.tool.clone()));
    }

    /// Returns what is asked with a conversation.
    pub fn talk<'a>(&'a self, items: &'a [Item]) -> Talk<'a> {
        Talk {
            dialect: self.dialect,
            model: &self.model,
            think: self.think,
            max_output: self.max_output,
            system: &self.system,
            tools: &self.tools,
            items,
        }
    }

    /// Returns the bytes of the next request: the same for the same conversation, wherever and
    /// whenever it is restored.
    ///
    /// # Errors
    /// If the dialect has no words for it.
    pub fn request(&self, tree: &Tree) -> std::result::Result<Vec<u8>, BadReply> {
        self.talk(&tree.context()).request()
    }
}

/// What a session of the built-in agent is made of.
#[derive(Clone)]
pub struct NativeSettings {
    /// Who answers.
    pub voice: Voice,
    /// Where it is reached.
    pub line: Line,
    /// Where the work is done.
    pub runtime: Arc<dyn RuntimeProvider>,
    /// In which sandbox.
    pub sandbox: SandboxId,
    /// Holds the sandbox once it is there: the model is asked meanwhile, and what it wants done waits.
    pub ready: Arc<SetOnce<Sandbox>>,
}

/// What the session and its work share.
#[derive(Debug, Default)]
struct Shared {
    tree: Mutex<Tree>,
    /// Whether a turn is under way or about to begin.
    busy: Mutex<bool>,
    /// Stops the turn that is under way or about to begin.
    cancel: Mutex<CancellationToken>,
    questions: Mutex<BTreeMap<String, oneshot::Sender<Answer>>>,
}

impl Shared {
    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn busy(&self) -> MutexGuard<'_, bool> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) -> MutexGuard<'_, CancellationToken> {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<Answer>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session of the built-in agent; dropping it stops it.
#[derive(Debug)]
pub struct NativeSession {
    orders: mpsc::Sender<String>,
    events: mpsc::Receiver<SessionEvent>,
    shared: Arc<Shared>,
    _work: JoinSet<()>,
}

impl NativeSession {
    /// Begins a session, or goes on with a conversation.
    pub fn start(settings: NativeSettings, tree: Tree) -> Self {
        let (orders, wanted) = mpsc::channel(ORDERS_MAX);
        let (told, events) = mpsc::channel(EVENTS_MAX);
        let shared = Arc::new(Shared { tree: Mutex::new(tree), ..Shared::default() });
        let NativeSettings { voice, line, runtime, sandbox, ready } = settings;
        let bench = Bench { runtime, sandbox, ready };
        let work = Work::new(voice, line, bench, (wanted, told, Arc::clone(&shared)));
        let mut tasks = JoinSet::new();
        tasks.spawn(work.run());
        Self { orders, events, shared, _work: tasks }
    }

    /// Returns the conversation as it is now.
    pub fn tree(&self) -> Tree {
        self.shared.tree().clone()
    }

    /// Returns how many nodes the conversation has.
    pub fn len(&self) -> usize {
        self.shared.tree().len()
    }

    /// Tells whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.shared.tree().is_empty()
    }

    /// Returns what was added to the conversation from a node on, to be stored.
    pub fn nodes_from(&self, first: NodeNumber) -> Vec<Node> {
        let tree = self.shared.tree();
        tree.nodes().skip(first.0 as usize).map(|(_, node)| node.clone()).collect()
    }

    /// Changes the conversation between turns: forks, switches, saves, compacts it.
    ///
    /// # Errors
    /// If a turn is under way.
    pub fn change<T>(&self, change: impl FnOnce(&mut Tree) -> T) -> Result<T> {
        let busy = self.shared.busy();
        if *busy {
            return Err(Error::Busy);
        }
        Ok(change(&mut self.shared.tree()))
    }

    /// Tells whether a turn is under way.
    pub fn is_busy(&self) -> bool {
        *self.shared.busy()
    }
}

#[async_trait]
impl AgentSession for NativeSession {
    async fn prompt(&mut self, turn: Turn) -> Result<()> {
        let bytes = turn.text.len();
        if bytes > PROMPT_MAX_BYTES {
            return Err(Error::TooLong { bytes, max: PROMPT_MAX_BYTES });
        }
        // Whoever fills the queue of a busy agent must wait, not be waited for.
        let mut busy = self.shared.busy();
        self.orders.try_send(turn.text).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Busy,
            mpsc::error::TrySendError::Closed(_) => Error::Over,
        })?;
        *busy = true;
        Ok(())
    }

    async fn next(&mut self) -> Result<SessionEvent> {
        Ok(self.events.recv().await.unwrap_or(SessionEvent::Ended { exit: None }))
    }

    async fn answer(&mut self, question: &str, answer: Answer) -> Result<()> {
        let waiting = self.shared.questions().remove(question);
        let unknown = || Error::NoQuestion(question.to_owned());
        waiting.and_then(|waiting| waiting.send(answer).ok()).ok_or_else(unknown)
    }

    async fn cancel(&mut self) -> Result<()> {
        if *self.shared.busy() {
            self.shared.cancel().cancel();
        }
        Ok(())
    }
}
