//! What is done to something that runs: it ends, it gets more agents, or a workflow begins.

use godel_app::Call;
use godel_app::workflows::runs::{self, What};
use godel_fleet::march::{self, Orders};
use godel_fleet::{Fleet, MarchState, agents, stop};
use godel_intent::parse::{Candidate, CandidateKind, Kind};
use godel_model::{Report as _, code};
use serde_json::Map;

use super::doc::{Deed, State, Wish};
use crate::{Error, Result};

/// How many agents of a bead or convoy are ended in one go.
const AGENTS_MAX: usize = 1_000;

/// Works out what will be done, and says it in words.
pub(super) async fn prepare(
    fleet: &Fleet,
    call: &Call,
    wish: &mut Wish,
    targets: Vec<Candidate>,
) -> Result<()> {
    let names: Vec<String> = targets
        .iter()
        .map(|one| format!("{} {} ({})", one.kind.as_str(), one.name, one.state))
        .collect();
    let (deed, words) = match wish.intent.kind {
        Kind::StopTask => {
            let all = targets.is_empty() && says_all(wish);
            if targets.is_empty() && !all {
                return nothing(wish, "nothing that runs or waits is like that");
            }
            let words = match all {
                true => "everything will stand still until `godel resume`".to_owned(),
                false => format!("this will stop, and its work is kept: {}", names.join(", ")),
            };
            (Deed::Stop { targets, all }, words)
        }
        Kind::ScaleTeam => {
            let Some(convoy) = targets.into_iter().find(|one| one.kind == CandidateKind::Convoy)
            else {
                return nothing(wish, "no convoy is like that");
            };
            let agents = scaled(fleet, call, wish, &convoy.id).await?;
            let words = format!("convoy {} will have {agents} agents at once", convoy.name);
            (Deed::Scale { convoy: convoy.id, agents }, words)
        }
        _ => {
            let Some(workflow) = wish.intent.named("workflow").map(|one| one.value.clone()) else {
                return nothing(wish, "there is no workflow of that name");
            };
            let words = format!("the workflow {workflow} will run");
            (Deed::Run { workflow }, words)
        }
    };
    (wish.deed, wish.words, wish.state) = (Some(deed), vec![words], State::Planned);
    Ok(())
}

fn nothing(wish: &mut Wish, why: &str) -> Result<()> {
    (wish.words, wish.state) = (vec![why.to_owned()], State::Answered);
    Ok(())
}

fn says_all(wish: &Wish) -> bool {
    const PLAIN: [&str; 24] = [
        "stop",
        "kill",
        "halt",
        "pause",
        "cancel",
        "abort",
        "end",
        "terminate",
        "please",
        "now",
        "the",
        "of",
        "it",
        "them",
        "at",
        "once",
        "agents",
        "agent",
        "workers",
        "work",
        "tasks",
        "beads",
        "running",
        "right",
    ];
    let low = wish.text.to_lowercase();
    let words = || low.split_whitespace().map(|one| one.trim_matches(['.', '!', ',']));
    let all = |word: &str| matches!(word, "everything" | "all" | "everyone" | "every");
    // All of something that is not there is not everything.
    words().any(all) && words().all(|word| all(word) || PLAIN.contains(&word))
}

/// How many agents a convoy should have: so many, or so many more or fewer.
async fn scaled(fleet: &Fleet, call: &Call, wish: &Wish, convoy: &str) -> Result<u32> {
    let size = wish.intent.size().unwrap_or(1);
    let change = wish.intent.named("change").map(|one| one.value.as_str());
    let now = match change {
        Some(_) => march::find(fleet, call, (Some(wish.project), convoy)).await?.0.agents,
        None => 0,
    };
    Ok(match change {
        Some("more") => now.saturating_add(size),
        Some(_) => now.saturating_sub(size).max(1),
        None => size.max(1),
    })
}

/// Does it.
pub(super) async fn carry_out(
    fleet: &Fleet,
    call: &Call,
    wish: &Wish,
    deed: &Deed,
) -> Result<Vec<String>> {
    match deed {
        Deed::Stop { all: true, .. } => {
            let stopped = stop::stop(fleet, call, Some("asked for in words".to_owned())).await?;
            Ok(vec![format!("everything stands still: {} agent(s) paused", stopped.agents)])
        }
        Deed::Stop { targets, .. } => {
            let mut said = Vec::new();
            for target in targets {
                said.push(end(fleet, call, wish, target).await?);
            }
            Ok(said)
        }
        Deed::Scale { convoy, agents } => {
            let (before, _) = march::find(fleet, call, (Some(wish.project), convoy)).await?;
            if before.state != MarchState::Running {
                return Err(Error::refused(
                    code::INTENT_STATE,
                    format!("convoy {convoy} does not run"),
                    format!("start it: godel convoy start {convoy} --agents {agents}"),
                ));
            }
            let orders = Orders {
                agents: Some(*agents),
                budget: before.budget,
                harness: before.harness,
                model: before.model,
                role: before.role,
                runtime: before.runtime,
                sandbox: before.sandbox,
                together: Some(before.whole.is_some()),
            };
            march::start(fleet, call, (Some(wish.project), convoy), orders).await?;
            Ok(vec![format!("convoy {convoy} has {agents} agents at once")])
        }
        Deed::Run { workflow } => {
            // Started twice, the run has one key, and so begins once.
            let key = Some(format!("intent-{}", wish.id));
            let what = What::Stored(workflow.clone());
            let run = runs::start(fleet.app(), call, what, Map::new(), key).await?;
            Ok(vec![format!("the workflow {workflow} runs: {}", run.record.id)])
        }
    }
}

/// Ends one thing: an agent, those on a bead, or a convoy with its agents.
async fn end(fleet: &Fleet, call: &Call, wish: &Wish, target: &Candidate) -> Result<String> {
    let mut filter = agents::Filter { project: Some(wish.project), ..agents::Filter::default() };
    match target.kind {
        CandidateKind::Agent => {
            let agent = agents::find(fleet, call, &target.id).await?;
            if agent.life.is_over() {
                return Ok(format!("{} was over already ({})", agent.label, agent.life));
            }
            let agent = agents::kill(fleet, call, &target.id).await?;
            return Ok(format!("{} has ended; its work is in its worktree", agent.label));
        }
        CandidateKind::Bead => filter.bead = Some(target.id.clone()),
        CandidateKind::Convoy => {
            filter.convoy = Some(target.id.clone());
            let halted = march::halt(fleet, call, (Some(wish.project), &target.id)).await;
            // One that was never started has nothing to halt.
            if let Err(error) = halted
                && error.code() != code::CONVOY_NOT_FOUND
            {
                return Err(error);
            }
        }
    }
    let found = agents::list(fleet, call, filter, (None, AGENTS_MAX)).await?;
    let mut ended = Vec::new();
    for agent in found.iter().filter(|agent| !agent.life.is_over()) {
        agents::kill(fleet, call, &agent.id.to_string()).await?;
        ended.push(agent.label.as_str());
    }
    let who = if ended.is_empty() {
        "no agent worked on it".to_owned()
    } else {
        format!("ended: {}", ended.join(", "))
    };
    Ok(format!("{} {} stands still ({who}); the work is kept", target.kind.as_str(), target.name))
}
