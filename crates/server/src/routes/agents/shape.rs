//! How agents look on the wire.

use godel_api::{
    Agent, AgentLine, AgentStep, AgentTodo, ConvoyRun, Letter, Notice, Talk, TalkNode,
};
use godel_board::inbox::{About, Entry};
use godel_fleet::{self as fleet, sessions::Shown};
use godel_model::{Event, code};

use crate::error::{ApiError, ApiResult};
use crate::guard::Caller;
use crate::state::Shared;

pub(crate) fn todo(todo: &godel_agents::Todo) -> AgentTodo {
    let state = match todo.state {
        godel_agents::TodoState::Pending => "pending",
        godel_agents::TodoState::InProgress => "in_progress",
        godel_agents::TodoState::Completed => "completed",
    };
    AgentTodo { text: todo.text.clone(), state: state.to_owned() }
}

pub(crate) fn read_todos(todos: Vec<AgentTodo>) -> ApiResult<Vec<godel_agents::Todo>> {
    let read = |todo: AgentTodo| {
        let state = match todo.state.as_str() {
            "pending" => godel_agents::TodoState::Pending,
            "in_progress" => godel_agents::TodoState::InProgress,
            "completed" | "done" => godel_agents::TodoState::Completed,
            _ => {
                let why = "a thing to do is pending, in_progress or completed";
                return Err(ApiError::new(code::INVALID_FIELD, why));
            }
        };
        Ok(godel_agents::Todo { text: todo.text, state })
    };
    todos.into_iter().map(read).collect()
}

/// Writes one line of the log of an agent.
pub(crate) fn line(event: &Event) -> AgentLine {
    AgentLine {
        seq: event.seq.0,
        at: event.at,
        kind: event.kind.as_str().to_owned(),
        payload: serde_json::from_str(event.payload.as_str()).unwrap_or_default(),
    }
}

/// Writes an agent, with what it has spent.
pub(crate) async fn agent(
    shared: &Shared,
    caller: &Caller,
    found: fleet::Agent,
) -> ApiResult<Agent> {
    let mut one = agents(shared, caller, vec![found]).await?;
    one.pop().ok_or_else(|| ApiError::new(code::INTERNAL_ERROR, "the agent is gone"))
}

/// Writes agents, with what each has spent.
pub(crate) async fn agents(
    shared: &Shared,
    caller: &Caller,
    found: Vec<fleet::Agent>,
) -> ApiResult<Vec<Agent>> {
    let tenant = caller.call.actor.tenant;
    let spent = fleet::look::spent(&shared.fleet, tenant, &found).await?;
    let models = shared.app.switchboard.config();
    Ok(found
        .into_iter()
        .map(|one| {
            let cost = spent.get(&one.id).copied().flatten();
            let window = models.known_model(&one.model).and_then(|model| model.context);
            written(one, cost, window)
        })
        .collect())
}

fn written(found: fleet::Agent, spent: Option<i64>, window: Option<u64>) -> Agent {
    let life = found.life;
    Agent {
        id: found.id.uuid(),
        status: life.status().to_owned(),
        lifecycle_state: life.as_str().to_owned(),
        view: life.view().to_owned(),
        note: found.note,
        project_id: found.project.uuid(),
        user_id: found.user.uuid(),
        bead: found.bead,
        convoy: found.convoy,
        team_id: found.team,
        task: found.task,
        harness: found.harness.name().to_owned(),
        model: found.model,
        context_tokens: window,
        role: found.role,
        runtime: found.runtime,
        sandbox: found.sandbox.as_str().to_owned(),
        worktree: found.worktree,
        commit: found.commit,
        session_id: found.talk,
        task_id: found.queued.map(godel_model::TaskId::uuid),
        runs: found.run,
        retry_count: found.retries,
        last_error: found.last_error,
        budget_micros: found.budget,
        spent_micros: spent,
        todos: found.todos.iter().map(todo).collect(),
        spawned_at: found.spawned_at,
        updated_at: found.updated_at,
        completed_at: found.completed_at,
        history: found
            .history
            .into_iter()
            .map(|step| AgentStep {
                at: step.at,
                state: step.life.as_str().to_owned(),
                why: step.why,
            })
            .collect(),
        label: found.label,
    }
}

pub(crate) fn talk((found, agent): (fleet::Talk, Option<fleet::Agent>)) -> Talk {
    let status = match &agent {
        _ if found.archived => "archived",
        Some(agent) if agent.life.is_running() => "active",
        Some(agent) if agent.life.is_over() => "ended",
        Some(_) => "paused",
        None => "ended",
    };
    let user_id = agent.as_ref().map(|agent| agent.user.uuid());
    let (label, bead) = agent.map_or_else(Default::default, |agent| (agent.label, agent.bead));
    Talk {
        id: found.id,
        agent_id: found.agent.uuid(),
        agent: label,
        user_id,
        bead,
        status: status.to_owned(),
        branch: found.current,
        branches: found.branches.into_iter().map(|(name, at)| (name, at.map(|at| at.0))).collect(),
        saves: found.saves.into_iter().map(|(name, at)| (name, at.0)).collect(),
        nodes: found.nodes,
        created_at: found.created_at,
    }
}

pub(crate) fn node(node: Shown) -> TalkNode {
    let Shown { number, parent, kind, text, at, cost } = node;
    TalkNode { number, parent, kind: kind.to_owned(), text, at, cost_micros: cost }
}

pub(crate) fn letter(found: fleet::Letter) -> Letter {
    let fleet::Letter { id, from, to, text, sent_at, read, .. } = found;
    Letter { id, from, to, text, sent_at, read }
}

pub(crate) fn notice(found: Entry) -> Notice {
    let Entry { id, kind, open, about, text, choices, answer, created_at } = found;
    let (kind, state) = (kind.to_owned(), if open { "open" } else { "closed" }.to_owned());
    let rest = Notice::default();
    let nobody = Notice { id, kind, state, text, choices, answer, created_at, ..rest };
    match about {
        About::Agent(found, user) => Notice {
            agent_id: found.agent.map(godel_model::AgentId::uuid),
            agent: found.label,
            user_id: user.map(godel_model::UserId::uuid),
            bead: found.bead,
            ..nobody
        },
        About::Gate { run, workflow, step, by } => {
            let (workflow, step) = (Some(workflow), Some(step));
            Notice { run_id: Some(run.uuid()), workflow, step, by, ..nobody }
        }
        About::Budget(id, scope) => {
            Notice { scope: Some(scope), budget_id: Some(id.uuid()), ..nobody }
        }
        About::Pool(pool) => Notice { pool: Some(pool), ..nobody },
    }
}

pub(crate) fn march((found, running): (fleet::March, u32)) -> ConvoyRun {
    ConvoyRun {
        convoy: found.convoy,
        state: found.state.as_str().to_owned(),
        agents: found.agents,
        running,
        budget_micros: found.budget,
        runtime: found.runtime,
        whole: found.whole,
        note: found.note,
    }
}
