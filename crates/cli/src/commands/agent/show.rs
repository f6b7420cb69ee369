//! How agents stand, for people.

use clap::builder::styling::Style;
use godel_api::{Agent, AgentTodo};
use godel_console::measure::{money, since};
use godel_console::output::{BAD, GOOD, Output, STRONG, WARN, plain, styled};
use godel_console::{Context, Exit, Result, locate, lookup};
use godel_model::{Clock as _, SystemClock};

use super::spawn::SHORT_ID;
use super::spent;

/// How many steps of its life are shown.
const STEPS_MAX: usize = 15;

/// Returns the colour of a state.
pub(super) fn colour(state: &str) -> Style {
    match state {
        "executing" | "completing" | "completed" | "running" => GOOD,
        "waiting" | "paused" => WARN,
        "failed" | "killed" => BAD,
        _ => Style::new(),
    }
}

/// Says how many things are done, of how many.
fn done(todos: &[AgentTodo]) -> String {
    match todos.len() {
        0 => "-".to_owned(),
        all => {
            let done = todos.iter().filter(|todo| todo.state == "completed").count();
            format!("{done}/{all}")
        }
    }
}

/// Names the program and the model.
fn kind(agent: &Agent) -> String {
    match agent.model.as_str() {
        "" => agent.harness.clone(),
        model => format!("{}/{model}", agent.harness),
    }
}

/// Says what it is doing or why it stands still; that it has no walls is never left out.
fn note(agent: &Agent) -> String {
    let told = agent.note.as_deref().filter(|note| !note.is_empty());
    let told = told.or(agent.last_error.as_deref().filter(|_| agent.status == "failed"));
    let told = told.and_then(|told| told.lines().next()).unwrap_or_default();
    match agent.sandbox.as_str() {
        "none" => format!("[no walls] {told}").trim_end().to_owned(),
        _ => told.to_owned(),
    }
}

/// Writes agents in columns.
pub(super) fn table(output: Output, agents: &[Agent]) -> Result<()> {
    let row = |agent: &Agent| {
        [
            agent.label.clone(),
            agent.lifecycle_state.clone(),
            agent.bead.clone(),
            kind(agent),
            agent.spent_micros.map_or("?".to_owned(), money),
            done(&agent.todos),
            note(agent),
        ]
    };
    let header = ["AGENT", "STATE", "BEAD", "HARNESS/MODEL", "COST", "TODOS", "NOTE"];
    output.painted(header, agents.iter().map(row).collect(), (1, colour))
}

/// Shows how an agent stands.
pub(super) async fn run(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let agent = lookup::agent(&found.client, given).await?;
    if context.output.is_json() {
        context.output.value(&agent)?;
        return Ok(Exit::Done);
    }
    let output = context.output;
    let state = styled(colour(&agent.lifecycle_state), &agent.lifecycle_state);
    output.line(format_args!("{} ({state})\n", styled(STRONG, plain(&agent.label))))?;
    output.pairs(facts(&agent))?;
    for (name, text) in [("task", Some(&agent.task)), ("error", agent.last_error.as_ref())] {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            output.line(format_args!("\n{name}"))?;
            output.quote(text)?;
        }
    }
    if !agent.todos.is_empty() {
        output.line(format_args!("\ntodos {}", done(&agent.todos)))?;
        agent.todos.iter().try_for_each(|todo| {
            output.line(format_args!("  {} {}", mark(&todo.state), plain(&todo.text)))
        })?;
    }
    if !agent.history.is_empty() {
        output.line("")?;
        let skipped = agent.history.len().saturating_sub(STEPS_MAX);
        let steps = agent.history.iter().skip(skipped);
        let rows =
            steps.map(|step| [format!("{:.0}", step.at), step.state.clone(), step.why.clone()]);
        output.listing(["TIME", "STATE", "WHY"], rows.collect())?;
    }
    if let Some(next) = next(&agent) {
        output.line(format_args!("\n{next}"))?;
    }
    Ok(Exit::Done)
}

fn mark(state: &str) -> &'static str {
    match state {
        "completed" => "[x]",
        "in_progress" => "[>]",
        _ => "[ ]",
    }
}

/// Returns what there is to know about an agent, in pairs.
fn facts(agent: &Agent) -> Vec<[String; 2]> {
    let now = SystemClock.now();
    let optional = |name: &str, value: Option<String>| value.map(|value| [name.to_owned(), value]);
    let walls = match agent.sandbox.as_str() {
        "none" => "none: it can do all that the server can".to_owned(),
        profile => profile.to_owned(),
    };
    let commit = agent.commit.as_deref().map(|id| id.get(..SHORT_ID).unwrap_or(id).to_owned());
    let runs = match agent.retry_count {
        0 => agent.runs.to_string(),
        again => format!("{}, begun anew {again} times", agent.runs),
    };
    let rows = [
        optional("id", Some(agent.id.to_string())),
        optional("doing", agent.note.clone()),
        optional("bead", Some(agent.bead.clone())),
        optional("convoy", agent.convoy.clone()),
        optional("team", agent.team_id.map(|team| team.to_string())),
        optional("agent", Some(format!("{} as {}", kind(agent), agent.role))),
        optional("context", agent.context_tokens.map(|most| format!("{most} tokens at most"))),
        optional("walls", Some(format!("{walls} ({})", agent.runtime))),
        optional("worktree", agent.worktree.clone()),
        optional("commit", commit),
        optional("cost", Some(spent(agent))),
        optional("runs", Some(runs)),
        optional("session", Some(agent.session_id.to_string())),
        optional("task", agent.task_id.map(|task| task.to_string())),
        optional("asked for", Some(format!("{} ago", since(agent.spawned_at, now)))),
        optional("last heard", Some(format!("{} ago", since(agent.updated_at, now)))),
        optional("ended", agent.completed_at.map(|at| format!("{at:.0}"))),
    ];
    rows.into_iter().flatten().collect()
}

/// Says what can be done next.
fn next(agent: &Agent) -> Option<String> {
    let label = plain(&agent.label);
    match agent.lifecycle_state.as_str() {
        "waiting" => Some("It waits for you: `godel inbox` shows what it asks.".to_owned()),
        "paused" => Some(format!("`godel agent resume {label}` lets it go on.")),
        "failed" => Some(format!(
            "`godel agent restart {label}` lets it begin anew, --model with another model."
        )),
        "completed" => Some(format!("`godel land {}` merges its work.", agent.bead)),
        "killed" => Some(format!(
            "Its work stays in {}; `godel agent spawn --bead {}` lets another one go on.",
            agent.worktree.as_deref().map_or_else(|| "git".to_owned(), plain),
            agent.bead
        )),
        _ => Some(format!("`godel agent attach {label}` lets you watch it and talk to it.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn agent(changes: &Value) -> Agent {
        let mut whole = json!({
            "id": "019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d", "label": "worker-1", "status": "running",
            "lifecycleState": "executing", "view": "busy", "note": "edits src/a.rs\nand more",
            "projectId": "019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3e", "bead": "godel-4k2hm",
            "convoy": null, "teamId": null, "task": "Fix it", "harness": "native",
            "model": "house-1", "contextTokens": 200_000, "role": "worker", "runtime": "worktree", "sandbox": "workspace",
            "worktree": null, "commit": null,
            "sessionId": "019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3f", "taskId": null, "runs": 1,
            "retryCount": 0, "lastError": null, "budgetMicros": 5_000_000, "spentMicros": 120_000,
            "todos": [{ "text": "look", "state": "completed" }, { "text": "fix", "state": "pending" }],
            "spawnedAt": "2026-11-15T08:00:00Z", "updatedAt": "2026-11-15T08:01:00Z",
            "completedAt": null, "history": [],
        });
        for (name, value) in changes.as_object().unwrap() {
            whole[name] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn a_row_says_how_far_and_what_for() {
        let one = agent(&json!({}));
        assert_eq!((done(&one.todos).as_str(), kind(&one).as_str()), ("1/2", "native/house-1"));
        assert_eq!((note(&one).as_str(), spent(&one).as_str()), ("edits src/a.rs", "$0.12 of $5"));
        let other = agent(&json!({ "model": "", "todos": [], "spentMicros": null,
            "budgetMicros": null, "harness": "command", "note": null }));
        assert_eq!((done(&other.todos).as_str(), kind(&other).as_str()), ("-", "command"));
        assert_eq!((note(&other).as_str(), spent(&other).as_str()), ("", "unknown"));
    }

    #[test]
    fn how_much_the_model_takes_is_told_if_it_is_known() {
        let told = |agent: &Agent| facts(agent).into_iter().find(|[name, _]| name == "context");
        let [_, context] = told(&agent(&json!({}))).unwrap();
        assert_eq!(context, "200000 tokens at most");
        assert_eq!(told(&agent(&json!({ "contextTokens": null }))), None);
    }

    #[test]
    fn having_no_walls_is_told_wherever_an_agent_is_shown() {
        let bare = agent(&json!({ "sandbox": "none", "note": null }));
        assert_eq!(note(&bare), "[no walls]");
        let told = facts(&bare).into_iter().find(|[name, _]| name == "walls").unwrap();
        assert!(told[1].starts_with("none: it can do all"), "{told:?}");
    }

    #[test]
    fn each_state_has_a_next_step() {
        for (state, part) in [
            ("waiting", "godel inbox"),
            ("paused", "agent resume worker-1"),
            ("failed", "agent restart worker-1"),
            ("completed", "godel land godel-4k2hm"),
            ("killed", "agent spawn --bead godel-4k2hm"),
            ("executing", "agent attach worker-1"),
        ] {
            let told = next(&agent(&json!({ "lifecycleState": state }))).unwrap();
            assert!(told.contains(part), "{state}: {told}");
        }
    }
}
