//! The answer to how something is going.

use godel_agents::TodoState;
use godel_app::{Call, beads};
use godel_fleet::{Agent, Fleet, agents};
use godel_intent::parse::{Candidate, CandidateKind};
use serde_json::{Value, json};

use super::doc::{State, Wish};
use crate::Result;

/// How many agents and convoys are told of if none is named.
const TOLD_MAX: usize = 20;

/// Answers at once.
pub(super) async fn tell(
    fleet: &Fleet,
    call: &Call,
    wish: &mut Wish,
    targets: &[Candidate],
) -> Result<()> {
    let (mut words, mut data) = (Vec::new(), Vec::new());
    for target in targets {
        let (line, facts) = match target.kind {
            CandidateKind::Agent => agent(&agents::find(fleet, call, &target.id).await?),
            CandidateKind::Bead => bead(fleet, call, wish, &target.id).await?,
            CandidateKind::Convoy => convoy(fleet, call, wish, &target.id).await?,
        };
        words.push(line);
        data.push(facts);
    }
    if targets.is_empty() {
        everything(fleet, call, wish, (&mut words, &mut data)).await?;
    }
    (wish.words, wish.data, wish.state) = (words, Some(Value::Array(data)), State::Answered);
    Ok(())
}

fn agent(one: &Agent) -> (String, Value) {
    let done = one.todos.iter().filter(|todo| todo.state == TodoState::Completed).count();
    let note = one.note.as_deref().unwrap_or_default();
    let mut line = format!("{} is {} on {}", one.label, one.life.as_str(), one.bead);
    if !note.is_empty() {
        line.push_str(&format!(": {note}"));
    }
    let doing = one.todos.iter().find(|todo| todo.state == TodoState::InProgress);
    if let Some(todo) = doing {
        line.push_str(&format!("; it does: {}", todo.text));
    }
    if !one.todos.is_empty() {
        line.push_str(&format!(" ({done} of {} things done)", one.todos.len()));
    }
    let facts = json!({
        "kind": "agent", "id": one.id, "name": one.label, "state": one.life.as_str(), "bead": one.bead,
        "convoy": one.convoy, "note": one.note, "todosDone": done, "todos": one.todos.len(),
    });
    (line, facts)
}

async fn bead(fleet: &Fleet, call: &Call, wish: &Wish, id: &str) -> Result<(String, Value)> {
    let found = beads::get(fleet.app(), call, Some(wish.project), id).await?.value.0;
    let who = found.agent.as_ref().map_or_else(String::new, |agent| format!(", {agent} has it"));
    let line = format!("{} \"{}\" is {}{who}", found.id, found.title, found.status);
    let facts = json!({
        "kind": "bead", "id": found.id, "name": found.title, "state": found.status.as_str(),
        "agent": found.agent,
    });
    Ok((line, facts))
}

async fn convoy(fleet: &Fleet, call: &Call, wish: &Wish, id: &str) -> Result<(String, Value)> {
    let found = beads::convoy(fleet.app(), call, Some(wish.project), id).await?.value;
    let (convoy, progress) = (&found.convoy, &found.progress);
    let mut line = format!(
        "{} \"{}\": {} of {} done ({} %), {} in progress, {} in review, {} open",
        convoy.id,
        convoy.name,
        progress.done,
        progress.total,
        progress.percent,
        progress.in_progress,
        progress.review,
        progress.open
    );
    if let Some(why) = &found.stalled {
        line.push_str(&format!("; nothing moves: {why}"));
    }
    let facts = json!({
        "kind": "convoy", "id": convoy.id, "name": convoy.name, "state": convoy.status,
        "done": progress.done, "total": progress.total, "percent": progress.percent,
    });
    Ok((line, facts))
}

/// Tells of all that is going on.
async fn everything(
    fleet: &Fleet,
    call: &Call,
    wish: &Wish,
    (words, data): (&mut Vec<String>, &mut Vec<Value>),
) -> Result<()> {
    let convoys = beads::convoys(fleet.app(), call, Some(wish.project)).await?;
    let active = convoys.into_iter().filter(|placed| placed.value.status == "active");
    for placed in active.take(TOLD_MAX) {
        let (line, facts) = convoy(fleet, call, wish, &placed.value.id).await?;
        words.push(line);
        data.push(facts);
    }
    let filter = agents::Filter { project: Some(wish.project), ..agents::Filter::default() };
    let live = agents::list(fleet, call, filter, (None, 200)).await?;
    for one in live.iter().filter(|one| !one.life.is_over()).take(TOLD_MAX) {
        let (line, facts) = agent(one);
        words.push(line);
        data.push(facts);
    }
    if words.is_empty() {
        words.push("nothing is going on: no agent works and no convoy is active".to_owned());
    }
    Ok(())
}
