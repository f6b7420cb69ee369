//! Done means verified: what git, the gates and the agent's own list say.

use std::time::Duration;

use godel_agents::TodoState;
use godel_agents::gates::Gates;
use godel_app::{Call, beads};
use godel_model::{BeadStatus, Life, LifeMove, Report as _, Resolution, code};
use godel_runtime::Command;
use godel_store::Tx;
use tokio::io::AsyncReadExt as _;

use crate::doc::Agent;
use crate::part::Said;
use crate::place::Place;
use crate::slips::NoticeKind;
use crate::{Fleet, Result, hearing, inbox, paper, review, wishes};

/// How much of what git says is told.
const WORK_MAX_BYTES: usize = 4 * 1024;
/// How much of it is read at all.
const READ_MAX_BYTES: u64 = 1 << 20;
const WAITS: &str = "its work is done and waits for review";
/// How long git may take to say it.
const GIT_PATIENCE: Duration = Duration::from_secs(60);

/// What is missing; nothing if the work is done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Missing(pub(crate) Vec<String>);

impl Missing {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says it in a line.
    pub(crate) fn why(&self) -> String {
        let first = self.0.iter().map(|one| one.lines().next().unwrap_or_default());
        first.collect::<Vec<_>>().join("; ")
    }

    /// Says it to the agent.
    pub(crate) fn words(&self) -> String {
        let list: Vec<String> = self.0.iter().map(|one| format!("- {one}")).collect();
        format!(
            "You said that you are done, but it was checked and this is missing:\n{}\n\nMend it, \
             commit, and say again that you are done.",
            list.join("\n")
        )
    }
}

/// Checks whether the work is done, of which the agent says that it is.
pub(crate) async fn verify(
    fleet: &Fleet,
    call: &Call,
    (agent, summary): (&Agent, &str),
    place: &Place,
) -> Result<Missing> {
    if agent.judges.is_some() {
        return Ok(Missing(review::lacks(summary)));
    }
    if agent.only_looks() {
        return Ok(Missing(unanswered(agent, summary)));
    }
    let mut missing = Vec::new();
    let wanted = wishes::read(fleet, place.folder.clone()).await?;
    if wanted.auto_commit {
        commit_leftovers(place).await;
    }
    let collected = match place.collect().await {
        Ok(collected) => collected,
        Err(error) => return Ok(Missing(vec![format!("your commits were refused: {error}")])),
    };
    if collected.dirty {
        missing.push(format!("files are changed that are in no commit:\n{}", status(place).await));
    }
    if Some(&collected.commit) == agent.base.as_ref() {
        missing.push("there is no commit with your work".to_owned());
    } else if hearing::was_sent_back(fleet, call.actor.tenant, agent, &collected.commit).await? {
        missing.push("this very commit was sent back; there is none that mends it".to_owned());
    }
    missing.extend(open_todos(agent));
    let commit = collected.commit;
    if missing.is_empty() {
        missing.extend(gates(fleet, call, (agent, &commit), place, &wanted).await?);
    }
    let note = move |_: &mut Tx<'_>, agent: &mut Agent| {
        agent.commit = Some(commit.clone());
        Ok(())
    };
    paper::change::<Agent, ()>(fleet.app(), call.actor.tenant, agent.id.uuid(), note).await?;
    Ok(Missing(missing))
}

fn open_todos(agent: &Agent) -> impl Iterator<Item = String> {
    let open = agent.todos.iter().filter(|todo| todo.state != TodoState::Completed);
    open.map(|todo| format!("this is still on your list: {}", todo.text))
}

/// Tells what one lacks that can change no file: what it says is its work.
fn unanswered(agent: &Agent, summary: &str) -> Vec<String> {
    let silent = summary.trim().is_empty().then(|| "say what came of it".to_owned());
    open_todos(agent).chain(silent).collect()
}

/// Runs the gates on a commit, and records on the bead what they said.
async fn gates(
    fleet: &Fleet,
    call: &Call,
    (agent, commit): (&Agent, &str),
    place: &Place,
    wanted: &Gates,
) -> Result<Vec<String>> {
    let at = commit.to_owned();
    let tree = fleet.at_bench(place.folder.clone(), move |bench| bench.tree_of(&at)).await?;
    let (mut failed, mut said) = (Vec::new(), Vec::new());
    for result in wishes::run(fleet, place, wanted, &tree).await? {
        said.push(Said {
            gate: result.name.clone(),
            passed: result.passed,
            commit: commit.to_owned(),
            detail: (!result.passed).then(|| godel_agents::clip(&result.output_tail, 2_000)),
        });
        if result.stops() {
            failed.push(format!("{}\n{}", result.summary(), result.output_tail));
        }
    }
    if agent.trial.is_none() {
        judge(fleet, call, agent, said).await?;
        return Ok(failed);
    }
    let note = move |_: &mut Tx<'_>, agent: &mut Agent| {
        if let Some(part) = &mut agent.trial {
            part.verdicts.clone_from(&said);
        }
        Ok(())
    };
    paper::change::<Agent, ()>(fleet.app(), call.actor.tenant, agent.id.uuid(), note).await?;
    Ok(failed)
}

/// Records on the bead of an agent what gates said about its work.
///
/// # Errors
/// If the bead is gone, or the caller may not.
pub async fn judge(fleet: &Fleet, call: &Call, agent: &Agent, said: Vec<Said>) -> Result<()> {
    for Said { gate, passed, commit, detail } in said {
        let verdict = godel_beads::ops::Verdict { gate, passed, commit, detail };
        let project = Some(agent.project);
        beads::judge(fleet.app(), call, project, &agent.bead, verdict).await?;
    }
    Ok(())
}

/// Commits what was left over, as a commit of its own.
async fn commit_leftovers(place: &Place) {
    // What could not be committed is found to be left over right after.
    said(place, "git add -A && (git diff --cached --quiet || git commit -q -m 'Leftovers')").await;
}

/// Takes away what a git that was killed left behind; nothing of the agent may run.
pub(crate) async fn clear_locks(place: &Place) {
    let line = "find \"$(git rev-parse --git-dir)\" -maxdepth 4 -name '*.lock' -type f -delete";
    said(place, line).await;
}

async fn status(place: &Place) -> String {
    said(place, "git status --short | head -50").await
}

/// Says how the work stands, for whoever goes on.
pub(crate) async fn work_in_words(place: &Place) -> String {
    said(place, "git log --oneline -n 20 HEAD; echo; git status --short | head -50").await
}

async fn said(place: &Place, line: &str) -> String {
    // Its own limit ends the command; this one is for walls that do not rise.
    let said = tokio::time::timeout(GIT_PATIENCE + GIT_PATIENCE, say(place, line)).await;
    said.unwrap_or_default()
}

async fn say(place: &Place, line: &str) -> String {
    let command = Command::shell(format!("exec 2>&1\n{line}")).within(GIT_PATIENCE);
    place.ready.wait().await;
    let Ok(mut process) = place.runtime.exec(place.sandbox, &command).await else {
        return String::new();
    };
    let mut said = Vec::new();
    if let Some(stdout) = process.stdout.take() {
        // What is cut off would not be told anyway.
        drop(stdout.take(READ_MAX_BYTES).read_to_end(&mut said).await);
    }
    drop(process.wait().await);
    godel_agents::clip(&String::from_utf8_lossy(&said), WORK_MAX_BYTES)
}

/// Moves the bead to review and ends the agent.
pub(crate) async fn complete(
    fleet: &Fleet,
    call: &Call,
    (agent, number): (&Agent, u32),
    summary: String,
) -> Result<()> {
    if agent.judges.is_some() {
        return review::conclude(fleet, call, (agent, number), summary).await;
    }
    let (app, said) = (fleet.app(), summary.clone());
    // The bead is in git and the agent is not: a server that is killed between the two must know.
    let note = move |_: &mut Tx<'_>, agent: &mut Agent| {
        agent.summary = Some(summary.clone());
        Ok(())
    };
    paper::change::<Agent, ()>(app, call.actor.tenant, agent.id.uuid(), note).await?;
    if agent.only_looks() {
        conclude(fleet, call, agent, said).await?;
    } else if agent.trial.is_none() {
        let wanted = beads::Move {
            status: Some(BeadStatus::Review),
            token: agent.claim.clone(),
            ..beads::Move::default()
        };
        beads::move_to(app, call, Some(agent.project), &agent.bead, wanted).await?;
    }
    finish(fleet, call, (agent, number)).await
}

/// Closes the bead of an agent that could change nothing with what it said. If others have written code
/// for the bead, that is theirs to land: then it is said there, and the bead is free again.
async fn conclude(fleet: &Fleet, call: &Call, agent: &Agent, said: String) -> Result<()> {
    let (app, project, token) = (fleet.app(), Some(agent.project), agent.claim.clone());
    let wanted = beads::Move {
        resolution: Some(Resolution::Done),
        reason: Some(said.clone()),
        token: token.clone(),
        ..beads::Move::default()
    };
    match beads::move_to(app, call, project, &agent.bead, wanted).await {
        Err(error) if error.code() == code::STATUS_NOT_EARNED => {
            beads::comment(app, call, project, &agent.bead, said).await?;
            beads::release(app, call, project, &agent.bead, (token, false)).await?;
        }
        moved => drop(moved?),
    }
    Ok(())
}

/// Ends an agent whose bead was moved to review right before its server was killed.
pub(crate) async fn complete_late(
    fleet: &Fleet,
    call: &Call,
    (agent, number): (&Agent, u32),
) -> Result<bool> {
    let said = agent.life == Life::Completing && agent.summary.is_some();
    if !said || agent.judges.is_some() {
        return Ok(false);
    }
    // What one of several says moves no bead: it was written down when all had agreed.
    if agent.trial.is_none() {
        let found = beads::get(fleet.app(), call, Some(agent.project), &agent.bead).await?.value.0;
        if !matches!(found.status, BeadStatus::Review | BeadStatus::Done) {
            return Ok(false);
        }
    }
    finish(fleet, call, (agent, number)).await?;
    Ok(true)
}

/// Ends an agent whose bead is in review, or waits for a choice.
async fn finish(fleet: &Fleet, call: &Call, (agent, number): (&Agent, u32)) -> Result<()> {
    let app = fleet.app();
    let alone = agent.trial.is_none() && !agent.only_looks();
    let judged = alone && hearing::is_wanted(fleet, call, agent).await?;
    let why = match (&agent.trial, agent.only_looks()) {
        (Some(_), _) => "its attempt is done and waits for a choice",
        (None, true) => "it has said what came of it",
        (None, false) => WAITS,
    };
    let (fleet_, id, now) = (fleet.clone(), agent.id.uuid(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        paper::change_in::<Agent, ()>(tx, id, |tx, agent| {
            if agent.run != number || !agent.life.is_running() {
                return Ok(());
            }
            agent.step(LifeMove::CleanupDone, why, now)?;
            let told = serde_json::json!({
                "agent": agent.label, "state": agent.life.as_str(), "view": agent.life.view(),
                "bead": agent.bead, "commit": agent.commit, "summary": agent.summary,
            });
            fleet_.record(tx, agent, "agent:complete", &told)?;
            if judged {
                hearing::ask(&fleet_, tx, agent)?;
            }
            let kinds = [NoticeKind::Question, NoticeKind::Stuck, NoticeKind::Budget];
            inbox::close(&fleet_, tx, agent, &kinds)
        })
        .map(drop)
    };
    paper::write(app, call.actor.tenant, work).await?;
    fleet.own.moved.notify_waiters();
    Ok(())
}
