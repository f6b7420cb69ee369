//! The session of an agent, whichever it is, with its conversation.

use godel_agents::launch::{Allowed, Plan, Resume, Tools};
use godel_agents::native::{Line, NativeSession, NativeSettings, Voice};
use godel_agents::parse::Permissions;
use godel_agents::program::{ProgramSession, ProgramSettings};
use godel_agents::tree::{
    Entry, Handoff, Node, NodeNumber, Prime, Recorder, Tree, handoff_note, prime,
};
use godel_agents::{AgentSession, Answer, Harness, SessionEvent, Turn};
use godel_app::{Call, beads};
use godel_decide::agent::{Fill, Role};
use godel_llm::Dialect;
use godel_llm::translate::talk::Item;
use godel_model::TenantId;
use uuid::Uuid;

use crate::doc::Agent;
use crate::place::Place;
use crate::{Fleet, Result, conversation, roles};

const GOES_ON: &str = "You were interrupted and go on now. Your files are as you left them; a command \
that was running has ended. Look at `git status` and at your todos, and go on with your task.";

/// What an agent is told that has no tools of Godel.
const BY_COMMAND: &str = "You reach Godel, which leads you, by commands: `godel self bead` shows your work, \
`godel self todo` writes your list of things to do, `godel self ask QUESTION` asks a person and waits, `godel \
self mail` reads your mail, `godel self tools` shows what else your role lets you ask for, and `godel self done \
SUMMARY` says that all is done and committed, and tells you what is missing.";

/// A session with its conversation.
pub(crate) struct Session {
    kind: Kind,
    /// How many nodes are on disk.
    kept: usize,
    /// What the agent is for.
    role: Role,
    /// What is remembered in its project.
    rules: String,
    /// Whether there was a conversation before.
    goes_on: bool,
}

enum Kind {
    Native(NativeSession),
    Program(Box<Recorded>),
}

/// A program, and what is written down of its session.
struct Recorded {
    session: ProgramSession,
    tree: Tree,
    recorder: Recorder,
}

impl Session {
    /// Opens a session: goes on with the conversation, or begins a branch of it after a handoff.
    pub(crate) async fn open(
        fleet: &Fleet,
        call: &Call,
        agent: &Agent,
        place: &Place,
    ) -> Result<Self> {
        let (_, mut tree) = conversation::open(fleet.app(), call.actor.tenant, agent.talk).await?;
        let fresh = agent.handoff.is_some();
        if fresh && tree.head().is_some() {
            let name = format!("try-{}", agent.retries + agent.run);
            // A name that is taken means that this very try was interrupted before.
            if tree.fork(&name, None).is_ok() {
                tree.switch(&name)?;
            }
        }
        let role = roles::find(&place.folder, &agent.role).await?;
        roles::hold(&role, agent.harness, agent.sandbox)?;
        let allowed = roles::allowed(&role);
        let goes_on = tree.head().is_some();
        let kept = tree.nodes().count();
        let config = fleet.app().switchboard.config();
        let dialect = config.own_dialect(&agent.model);
        let kind = if agent.harness == Harness::Native {
            let mut voice = Voice::new(dialect, agent.model.clone());
            if let Some(model) = config.known_model(&agent.model) {
                voice.window = model.context.unwrap_or(voice.window);
                voice.max_output = model.output.unwrap_or(voice.max_output).min(32_000);
            }
            voice.only(&allowed);
            voice.grant(&role.permissions);
            let settings = NativeSettings {
                voice,
                line: Line {
                    http: fleet.own.settings.http.clone(),
                    base_url: proxy(&fleet.own.settings.api),
                    token: place.token.clone(),
                },
                runtime: place.runtime.clone(),
                sandbox: place.sandbox,
                ready: place.ready.clone(),
            };
            Kind::Native(NativeSession::start(settings, tree))
        } else {
            let resume = tree.kept_by(agent.harness).map(Resume::same);
            let plan = plan(fleet, agent, place, (dialect, role.description.clone())).await;
            let plan = Plan { allowed: allowed.clone(), ..plan };
            let session = ProgramSession::start(ProgramSettings {
                plan,
                runtime: place.runtime.clone(),
                sandbox: place.sandbox,
                token: place.token.clone(),
                resume,
                permissions: Permissions::Role(allowed),
            })?;
            Kind::Program(Box::new(Recorded {
                session,
                tree,
                recorder: Recorder::new(agent.harness),
            }))
        };
        let known = beads::recall(fleet.app(), call, Some(agent.project)).await;
        let known = known.inspect_err(|error| tracing::warn!(%error, "memories cannot be read"));
        let rules = godel_beads::remembered(known.unwrap_or_default().iter().map(|one| &one.value));
        Ok(Self { kind, kept, role, rules, goes_on })
    }

    /// How many turns the agent may take.
    pub(crate) const fn max_turns(&self) -> Option<u32> {
        self.role.max_turns
    }

    /// Writes what the agent is told first.
    pub(crate) fn first_words(&self, agent: &Agent) -> String {
        let carries = match &self.kind {
            Kind::Native(_) => self.goes_on,
            Kind::Program(program) => program.tree.kept_by(agent.harness).is_some(),
        };
        if carries {
            return GOES_ON.to_owned();
        }
        let note = match (&agent.handoff, &self.kind) {
            (Some(note), _) => Some(note.clone()),
            (None, Kind::Program(program)) if self.goes_on => {
                let handoff = Handoff {
                    reason: "the session before you was led by another program, or was lost",
                    todos: &agent.todos,
                    work: "see `git log` and `git status`",
                };
                Some(handoff_note(&program.tree, &handoff))
            }
            _ => None,
        };
        // What is said in one line is said once, and never not at all.
        let whole = agent.task.trim();
        let (title, rest) = whole.split_once('\n').unwrap_or((whole, ""));
        let rest = if self.role.names("title") { rest } else { whole };
        let fill = Fill { task: rest.trim(), bead: &agent.bead, title, rules: &self.rules };
        let mut task = self.role.render(&fill);
        if !agent.harness.has_tools_of_godel() {
            task = format!("{}\n\n{BY_COMMAND}", task.trim_end());
        }
        let rules = if self.role.names("rules") { "" } else { &self.rules };
        prime(&Prime { task: &task, rules, todos: &agent.todos, handoff: note.as_deref() })
    }

    /// Tells the agent something.
    pub(crate) async fn prompt(&mut self, text: &str) -> Result<()> {
        match &mut self.kind {
            Kind::Native(session) => session.prompt(Turn::new(text)).await?,
            Kind::Program(program) => {
                program.session.prompt(Turn::new(text)).await?;
                program.recorder.prompt(&mut program.tree, text)?;
            }
        }
        Ok(())
    }

    /// Waits for what happens next.
    pub(crate) async fn next(&mut self) -> Result<SessionEvent> {
        match &mut self.kind {
            Kind::Native(session) => Ok(session.next().await?),
            Kind::Program(program) => {
                let event = program.session.next().await?;
                program.recorder.event(&mut program.tree, &event)?;
                Ok(event)
            }
        }
    }

    /// Answers a question.
    pub(crate) async fn answer(&mut self, question: &str, answer: Answer) -> Result<()> {
        match &mut self.kind {
            Kind::Native(session) => Ok(session.answer(question, answer).await?),
            Kind::Program(program) => Ok(program.session.answer(question, answer).await?),
        }
    }

    /// Stops the turn.
    pub(crate) async fn cancel(&mut self) -> Result<()> {
        match &mut self.kind {
            Kind::Native(session) => Ok(session.cancel().await?),
            Kind::Program(program) => Ok(program.session.cancel().await?),
        }
    }

    /// Returns the last node of the conversation.
    pub(crate) fn head(&self) -> Option<NodeNumber> {
        match &self.kind {
            Kind::Native(session) => session.tree().head(),
            Kind::Program(program) => program.tree.head(),
        }
    }

    /// Returns how long the conversation is.
    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::Native(session) => session.len(),
            Kind::Program(program) => program.tree.len(),
        }
    }

    /// Tells whether something was told that the agent turns to by itself.
    pub(crate) fn has_more(&self) -> bool {
        match &self.kind {
            Kind::Native(session) => session.is_busy(),
            Kind::Program(_) => false,
        }
    }

    /// Tells whether what is on disk of the conversation has words that were told after so many nodes, and
    /// of a program that it said something after them: only the program knows what it has taken in.
    pub(crate) fn has_heard(&self, words: &str, since: usize) -> bool {
        let from = NodeNumber(u32::try_from(since).unwrap_or(u32::MAX));
        let on_disk = self.kept.saturating_sub(since);
        match &self.kind {
            Kind::Native(session) => {
                session.nodes_from(from).iter().take(on_disk).any(|node| is_told(node, words))
            }
            Kind::Program(program) => {
                let nodes = program.tree.nodes_from(from).map(|(_, node)| node).take(on_disk);
                let mut after = nodes.skip_while(|node| !is_told(node, words)).skip(1);
                after.any(|node| !matches!(node.entry, Entry::Said { item: Item::User { .. } }))
            }
        }
    }

    /// Tells whether something was said since the conversation was kept.
    pub(crate) fn has_grown(&self) -> bool {
        self.grown().is_some()
    }

    /// Returns the conversation if it has grown since it was kept.
    fn grown(&self) -> Option<Tree> {
        match &self.kind {
            Kind::Native(session) => {
                let first = NodeNumber(u32::try_from(self.kept).unwrap_or(u32::MAX));
                (!session.nodes_from(first).is_empty()).then(|| session.tree())
            }
            Kind::Program(program) => {
                (program.tree.nodes().count() > self.kept).then(|| program.tree.clone())
            }
        }
    }

    /// Writes down what was said since the last time.
    pub(crate) async fn keep(&mut self, fleet: &Fleet, tenant: TenantId, talk: Uuid) -> Result<()> {
        let Some(tree) = self.grown() else { return Ok(()) };
        let count = tree.nodes().count();
        conversation::keep(fleet.app(), tenant, talk, tree).await?;
        self.kept = count;
        Ok(())
    }

    /// Writes the note for whoever goes on.
    pub(crate) async fn handoff(&self, agent: &Agent, place: &Place, why: &str) -> String {
        let work = crate::check::work_in_words(place).await;
        let handoff = Handoff { reason: why, todos: &agent.todos, work: &work };
        match &self.kind {
            Kind::Native(session) => handoff_note(&session.tree(), &handoff),
            Kind::Program(program) => handoff_note(&program.tree, &handoff),
        }
    }
}

fn is_told(node: &Node, words: &str) -> bool {
    matches!(&node.entry, Entry::Said { item: Item::User { text } } if text.contains(words))
}

/// Returns the address of the proxy beside that of the API.
pub(crate) fn proxy(api: &str) -> String {
    format!("{}/proxy", api.trim_end_matches('/'))
}

async fn plan(
    fleet: &Fleet,
    agent: &Agent,
    place: &Place,
    (dialect, system): (Dialect, String),
) -> Plan {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let sandbox = place.ready.wait().await;
    let api = sandbox.api.clone().unwrap_or_else(|| fleet.own.settings.api.clone());
    Plan {
        harness: agent.harness,
        program: place.program.clone(),
        base_url: proxy(&api),
        model: agent.model.clone(),
        dialect,
        home: text(&sandbox.home),
        folder: text(&sandbox.workspace),
        system: Some(system),
        tools: Some(Tools {
            name: "godel".to_owned(),
            command: text(&sandbox.program(&fleet.own.settings.helper.program)),
            args: vec!["mcp".to_owned()],
        }),
        allowed: Allowed::default(),
    }
}
