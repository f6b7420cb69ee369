//! Asking for agents: what they are to be, and how they get into the queue.

mod checked;

use godel_agents::tree::Tree;
use godel_agents::{Harness, Todo, discover};
use godel_app::queue::tasks;
use godel_app::spend::budgets;
use godel_app::{Call, beads, events};
use godel_beads::ops::NewBead;
use godel_model::{
    EventId, Life, NewTask, Payload, PoolName, ProjectId, Reach, RetryPolicy, TenantId, code,
};
use godel_runtime::{Profile, SnapshotId};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

pub(crate) use self::checked::{TASK_MAX_CHARS, check};
use crate::agents::told;
pub use crate::aim::Aim;
use crate::aim::Aimed;
use crate::doc::{Agent, Talk};
use crate::part::Fate;
use crate::{Error, Fleet, Result, conversation, paper, roles, stop, wishes};

/// The pool of the queue from which agents are run.
pub const POOL: &str = "agents";

/// How often a run is handed out again after a server was lost.
const ATTEMPTS: u32 = 100;

/// How many names are tried for an agent that has none.
const NAMES_TRIED: u32 = 10_000;

/// An agent that is asked for.
#[derive(Debug, Clone, Default)]
pub struct NewAgent {
    /// What people call it.
    pub label: Option<String>,
    /// What is to be done.
    pub task: Option<String>,
    /// The bead to work on.
    pub bead: Option<String>,
    /// The project.
    pub project: Option<ProjectId>,
    /// Which agent it is.
    pub harness: Option<String>,
    /// The command line of one that has no own.
    pub command: Vec<String>,
    /// The model.
    pub model: Option<String>,
    /// Its role.
    pub role: Option<String>,
    /// Where it works.
    pub runtime: Option<String>,
    /// Its walls.
    pub sandbox: Option<String>,
    /// Hosts that it may reach.
    pub allow: Vec<String>,
    /// What it may spend.
    pub budget: Option<i64>,
    /// After how many seconds it ends.
    pub timeout: Option<u64>,
    /// The convoy that it works for.
    pub convoy: Option<String>,
    /// The team that it works for.
    pub team: Option<Uuid>,
    /// What it is there for.
    pub aim: Aim,
}

impl NewAgent {
    /// Asks for one of the same kind as another.
    pub fn like(other: &Agent) -> Self {
        Self {
            harness: Some(other.harness.name().to_owned()),
            command: other.command.clone(),
            model: other.first_model.clone().filter(|model| !model.is_empty()),
            runtime: Some(other.runtime.clone()),
            allow: other.allow.clone(),
            budget: other.budget,
            timeout: other.timeout,
            ..Self::default()
        }
    }
}

/// What an agent goes on from.
#[derive(Default)]
pub(crate) struct Before {
    /// The conversation.
    pub(crate) tree: Option<Tree>,
    /// The commit that its branch begins at.
    pub(crate) begin_at: Option<String>,
    /// The snapshot that its files are restored from.
    pub(crate) files: Option<SnapshotId>,
    /// Its list of things to do.
    pub(crate) todos: Vec<Todo>,
}

/// What an agent is, once all defaults are known.
struct Chosen {
    harness: Harness,
    model: String,
    role: String,
    runtime: String,
    sandbox: Profile,
}

/// Asks for an agent; it is on disk, and in the queue, when this returns.
///
/// # Errors
/// If the caller may not, something makes no sense, or another agent works on the bead.
#[instrument(level = "debug", name = "fleet.spawn.spawn", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn spawn(fleet: &Fleet, call: &Call, new: NewAgent) -> Result<Agent> {
    call.may("agent", "create", Reach::Own)?;
    spawn_with(fleet, call, new, None).await
}

/// Asks for the agent of an attempt, whose work begins at a commit.
///
/// # Errors
/// As [`spawn`].
#[instrument(level = "debug", name = "fleet.spawn.attempt", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn attempt(fleet: &Fleet, call: &Call, new: NewAgent, base: String) -> Result<Agent> {
    call.may("agent", "create", Reach::Own)?;
    let before = Before { begin_at: Some(base), ..Before::default() };
    spawn_with(fleet, call, new, Some(before)).await
}

/// Asks for an agent that may go on with a conversation, from a commit.
pub(crate) async fn spawn_with(
    fleet: &Fleet,
    call: &Call,
    new: NewAgent,
    before: Option<Before>,
) -> Result<Agent> {
    check(&new)?;
    stop::refuse_if_stopped(fleet, call.actor.tenant).await?;
    let (app, (project, bead, task)) = (fleet.app(), settle_bead(fleet, call, &new).await?);
    let chosen = choose(fleet, call, project, &new).await?;
    let (now, first_model) = (app.clock.now(), Some(chosen.model.clone()));
    let life = Life::Initializing;
    let own_bead = new.bead.is_none() || matches!(new.aim, Aim::Errand(..));
    let Aimed { id, errand, judges, trial } = new.aim.taken_apart(|| app.mint.id());
    let Before { tree, begin_at, files, todos } = before.unwrap_or_default();
    let agent = Agent {
        id,
        label: new.label.clone().unwrap_or_default(),
        life,
        history: vec![crate::Step { at: now, life, why: "asked for".to_owned() }],
        note: Some("waits for its turn".to_owned()),
        user: call.actor.user,
        project,
        bead,
        convoy: new.convoy,
        team: new.team,
        task,
        harness: chosen.harness,
        command: new.command,
        model: chosen.model,
        role: chosen.role,
        runtime: chosen.runtime,
        sandbox: chosen.sandbox,
        allow: new.allow,
        budget: new.budget,
        timeout: new.timeout,
        began_at: None,
        talk: app.mint.id::<EventId>().uuid(),
        run: 1,
        queued: None,
        attempts: Vec::new(),
        stumbles: 0,
        first_model,
        debugging: false,
        retries: 0,
        sent_back: 0,
        last_error: None,
        todos,
        worktree: None,
        base: None,
        begin_at,
        files,
        commit: None,
        claim: None,
        summary: None,
        handoff: None,
        own_bead,
        made: 0,
        stopped: false,
        broke: None,
        benched: false,
        errand,
        judges,
        approves: None,
        trial,
        log_from: events::bounds(app, call).await?.1.0,
        spawned_at: now,
        updated_at: now,
        completed_at: None,
    };
    set_off(fleet, call, agent, tree).await
}

/// Files a new agent with its budget, and has it wait for its turn.
async fn set_off(fleet: &Fleet, call: &Call, agent: Agent, tree: Option<Tree>) -> Result<Agent> {
    if let Some(cap) = agent.budget {
        budgets::cap_agent(fleet.app(), call, agent.id, cap).await?;
    }
    let agent = file(fleet, call, agent, tree).await?;
    fleet.enlist(call.actor.tenant);
    enqueue(fleet, call.actor.tenant, agent).await
}

/// Finds the bead to work on, or makes one of what is to be done.
async fn settle_bead(
    fleet: &Fleet,
    call: &Call,
    new: &NewAgent,
) -> Result<(ProjectId, String, String)> {
    let app = fleet.app();
    if let Some(name) = &new.bead {
        let found = beads::get(app, call, new.project, name).await?;
        let (project, bead) = (found.project, found.value.0);
        if bead.is_closed() {
            return Err(Error::refused(
                code::AGENT_STATE,
                format!("bead {} is closed", bead.id),
                format!("open it again: godel bead reopen {}", bead.id),
            ));
        }
        if !matches!(new.aim, Aim::Attempt(..)) {
            refuse_second(fleet, call.actor.tenant, project, &bead.id).await?;
        }
        let mut task = bead.title.clone();
        for more in [&bead.description, &bead.acceptance, &new.task].into_iter().flatten() {
            task.push_str("\n\n");
            task.push_str(more);
        }
        return Ok((project, bead.id, task));
    }
    let task = new.task.clone().unwrap_or_default();
    let first = task.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let title: String = first.trim().chars().take(200).collect();
    let draft = NewBead { title, description: Some(task.clone()), ..NewBead::default() };
    let made = beads::create(app, call, new.project, draft).await?;
    Ok((made.project, made.value.id, task))
}

/// Refuses a second agent on a bead, and any while a choice between several is open.
///
/// # Errors
/// If there is one.
pub async fn refuse_second(
    fleet: &Fleet,
    tenant: TenantId,
    project: ProjectId,
    bead: &str,
) -> Result<()> {
    let owner = Agent::owner_of(project, bead);
    let found =
        paper::look(fleet.app(), tenant, move |tx| paper::of::<Agent>(tx, &owner, None, 100));
    let found = found.await?;
    let open = |agent: &Agent| agent.trial.as_ref().is_some_and(|part| part.fate == Fate::Open);
    if found.iter().any(open) {
        return Err(Error::refused(
            code::ATTEMPT_REFUSED,
            format!("attempts at {bead} are at work or wait for a choice"),
            format!("look at them: godel attempt show {bead}; then pick one, or drop all"),
        ));
    }
    let busy = found.into_iter().find(|agent| !agent.life.is_over());
    busy.map_or(Ok(()), |agent| {
        Err(Error::refused(
            code::AGENT_STATE,
            format!("agent {} works on {bead} already ({})", agent.label, agent.life),
            format!("look at it: godel agent show {}; or end it: godel agent kill", agent.label),
        ))
    })
}

/// Sees whether an agent could be what is asked for.
///
/// # Errors
/// If a role, a harness or a model is not there, or the caller may not.
#[instrument(level = "debug", name = "fleet.spawn.check_choice", skip_all)]
pub async fn check_choice(
    fleet: &Fleet,
    call: &Call,
    (to, new): (ProjectId, &NewAgent),
) -> Result<()> {
    call.may("agent", "create", Reach::Own)?;
    choose(fleet, call, to, new).await.map(drop)
}

async fn choose(fleet: &Fleet, call: &Call, project: ProjectId, new: &NewAgent) -> Result<Chosen> {
    let (_, folder) = fleet.project(call, project).await?;
    let wanted = wishes::read(fleet, folder.clone()).await?.agents;
    let role = roles::find(&folder, new.role.as_deref().unwrap_or("worker")).await?;
    let name = new
        .harness
        .clone()
        .or(role.harness.clone())
        .or(wanted.harness.map(|one| one.name().to_owned()));
    let name = name.unwrap_or_else(|| Harness::Native.name().to_owned());
    let harness = Harness::named(&name).ok_or_else(|| {
        let known: Vec<_> = Harness::ALL.iter().map(|one| one.name()).collect();
        Error::refused(
            code::INVALID_FIELD,
            format!("there is no kind of agent called \"{name}\""),
            format!("use one of: {}", known.join(", ")),
        )
        .at("harness")
    })?;
    refuse_missing(fleet, harness, &new.command).await?;
    let model = new.model.clone().or(role.model.clone()).or(wanted.model.clone());
    if model.as_deref().is_none_or(str::is_empty) && harness != Harness::Command {
        return Err(Error::refused(
            code::MODEL_NEEDED,
            "no model is named for the agent",
            "say --model NAME, or set `[agents] model` in godel.toml; `godel models` lists them",
        )
        .at("model"));
    }
    let runtime = new.runtime.clone().or(wanted.runtime);
    let runtime = runtime.unwrap_or_else(|| "worktree".to_owned());
    fleet.runtime(&runtime).map_err(|error| error.at("runtime"))?;
    let sandbox = new.sandbox.clone().or(role.sandbox.clone());
    let sandbox = sandbox.map(|text| text.parse::<Profile>()).transpose()?.unwrap_or_default();
    roles::hold(&role, harness, sandbox)?;
    Ok(Chosen { harness, model: model.unwrap_or_default(), role: role.name, runtime, sandbox })
}

/// Refuses an agent whose program is not here, before anything is made for it.
pub(crate) async fn refuse_missing(
    fleet: &Fleet,
    harness: Harness,
    command: &[String],
) -> Result<()> {
    if matches!(harness, Harness::Acp | Harness::Command) {
        if command.first().is_none_or(String::is_empty) {
            return Err(Error::refused(
                code::INVALID_FIELD,
                format!("an agent of the kind {harness} needs a command line"),
                "give it as `command`; {prompt} stands for what the agent is told",
            )
            .at("command"));
        }
        return Ok(());
    }
    if harness == Harness::Native {
        return Ok(());
    }
    let found = discover::discover(harness, &fleet.own.settings.search).await;
    let complaint = match found {
        Ok(Some(found)) => found.complaint(),
        Ok(None) => Some(format!("{harness} is not on this machine")),
        Err(why) => Some(why),
    };
    complaint.map_or(Ok(()), |why| {
        Err(Error::refused(
            code::HARNESS_NOT_FOUND,
            why,
            "install it where the server finds it, or use --harness native",
        ))
    })
}

/// Writes a new agent and its conversation down, under a name that is free.
pub(crate) async fn file(
    fleet: &Fleet,
    call: &Call,
    agent: Agent,
    tree: Option<Tree>,
) -> Result<Agent> {
    let (fleet_, call_) = (fleet.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let mut agent = agent.clone();
        name(tx, &mut agent)?;
        let mut talk = Talk {
            id: agent.talk,
            agent: agent.id,
            project: agent.project,
            archived: false,
            branches: [("main".to_owned(), None)].into(),
            saves: [].into(),
            current: "main".to_owned(),
            nodes: 0,
            created_at: agent.spawned_at,
        };
        if let Some(tree) = &tree {
            conversation::store(tx, &mut talk, tree, conversation::Stamp::default())?;
        }
        paper::insert(tx, &talk)?;
        let event = fleet_.event(&agent, "agent:spawn", &told(&agent));
        call_.tell(fleet_.app(), tx, event)?;
        Ok::<_, Error>(agent)
    };
    Ok(fleet.app().store.write(call.scope(), work).await?.value)
}

/// Stores an agent under its own name, or under its role and the next number.
fn name(tx: &mut Tx<'_>, agent: &mut Agent) -> Result<()> {
    if !agent.label.is_empty() {
        if paper::insert(tx, agent)? {
            return Ok(());
        }
        return Err(Error::refused(
            code::AGENT_NAME_TAKEN,
            format!("another agent is called \"{}\"", agent.label),
            "choose another name, or leave it out",
        ));
    }
    let all = tx.papers(<Agent as paper::Filed>::KIND).count()?;
    let first = u32::try_from(all.iter().map(|(_, count)| count).sum::<i64>()).unwrap_or(0);
    for number in first + 1..first + NAMES_TRIED {
        agent.label = format!("{}-{number}", agent.role);
        if paper::insert(tx, agent)? {
            return Ok(());
        }
    }
    Err(Error::Paper("no name is free for the agent".to_owned()))
}

/// Puts a run of an agent into the queue; a second call finds the first task.
pub(crate) async fn enqueue(fleet: &Fleet, tenant: TenantId, agent: Agent) -> Result<Agent> {
    let app = fleet.app();
    let payload = serde_json::json!({ "agent": agent.id, "run": agent.run });
    let asked = NewTask {
        title: format!("agent {} on {}", agent.label, agent.bead),
        payload: Payload::of(&payload),
        pool: PoolName::from_stored(POOL.to_owned()),
        priority: godel_model::TaskPriority::default(),
        requires: [].into(),
        retry: RetryPolicy {
            max_attempts: ATTEMPTS,
            delay_ms: 100,
            max_delay_ms: 5_000,
            elsewhere: false,
        },
        // The run itself sees to its time: the queue would only begin it again.
        timeout_seconds: None,
        start_at: None,
        deadline: None,
        after: Vec::new(),
        session: None,
        key: Some(format!("agent:{}:{}", agent.id, agent.run)),
        owner: None,
    };
    let task = tasks::create(app, &fleet.as_fleet(tenant), asked).await?.id;
    let run = agent.run;
    let note = move |_: &mut Tx<'_>, agent: &mut Agent| {
        if agent.run == run {
            agent.queued = Some(task);
        }
        Ok(())
    };
    Ok(paper::change::<Agent, ()>(app, tenant, agent.id.uuid(), note).await?.0)
}
