//! How a landing ends: in the branch, or with somebody who knows why not.

use godel_app::beads;
use godel_beads::ops;
use godel_git::{DiffStat, Fate, How, Name, Remove};
use godel_model::{BeadStatus, Kind, Report as _, TenantId};
use godel_store::Tx;
use jiff::SignedDuration;

use super::entry::{Asked, Entry, Moving, Stage, Trouble};
use super::train::Ride;
use super::{Hindrance, mend, queue, refusal, send_back, whole};
use crate::doc::Agent;
use crate::{Error, Fleet, NoticeKind, Result, inbox, paper};

/// How many agents of a bead are looked at.
const LOOK_MAX: usize = 100;
/// How long a line waits whose project cannot be read.
const STALLED: SignedDuration = SignedDuration::from_secs(10);

/// Ends a bead whose work is in the branch: the bead first, so that it is done again after a crash.
pub(super) async fn landed(ride: &Ride, entry: &Entry, moving: &Moving) -> Result<()> {
    let landing = ops::Landing {
        branch: moving.merge.target.clone(),
        target: moving.merge.commit.clone(),
        source: Some(entry.source.clone()),
        gates: entry.verdicts.iter().map(passed).collect(),
        change: size(ride, moving).await,
    };
    let part = (moving.from.clone(), moving.to.clone());
    finish(ride, entry, landing, Some(part)).await
}

/// Counts what a bead's part of the branch changes; a number is no reason to keep work from being done.
async fn size(ride: &Ride, moving: &Moving) -> Option<ops::Changed> {
    let (from, to) = (moving.from.clone(), moving.to.clone());
    let count = move |bench: &godel_git::Workbench| bench.diff_stat(&from, &to);
    match ride.fleet.at_bench(ride.folder.clone(), count).await {
        Ok(DiffStat { files, added, removed, .. }) => Some(ops::Changed { files, added, removed }),
        Err(error) => {
            tracing::warn!(commit = %moving.to, %error, "what landed could not be counted");
            None
        }
    }
}

fn passed(verdict: &super::Verdict) -> ops::Passed {
    ops::Passed { gate: verdict.gate.clone(), passed: verdict.passed }
}

/// Ends a bead whose pull request was merged; on the forge others may have added to its work.
pub(super) async fn merged(ride: &Ride, entry: &Entry, (commit, head): (&str, &str)) -> Result<()> {
    let landing = ops::Landing {
        branch: ride.target.clone(),
        target: commit.to_owned(),
        source: Some(head.to_owned()),
        gates: entry.verdicts.iter().map(passed).collect(),
        change: None,
    };
    finish(ride, entry, landing, None).await
}

/// Ends a bead whose work the branch had already.
pub(super) async fn already(ride: &Ride, entry: &Entry, at: &str) -> Result<()> {
    let landing = ops::Landing {
        branch: ride.target.clone(),
        target: at.to_owned(),
        source: Some(entry.source.clone()),
        gates: Vec::new(),
        change: None,
    };
    finish(ride, entry, landing, None).await
}

async fn finish(
    ride: &Ride,
    entry: &Entry,
    landing: ops::Landing,
    part: Option<(String, String)>,
) -> Result<()> {
    // The branch has the work, whoever allowed it and may be gone by now.
    let call = ride.call(entry).await.unwrap_or_else(|_| ride.fleet.as_fleet(ride.tenant));
    let (app, project) = (ride.fleet.app(), Some(ride.project));
    let bead = beads::get(app, &call, project, &entry.bead).await?.value.0;
    // One that is done and says how stays as it is.
    let known = bead.landed.as_ref().and_then(|landed| landed.get("target")?.as_str());
    let commit = match known {
        Some(known) if bead.status == BeadStatus::Done && part.is_none() => known.to_owned(),
        _ => {
            let commit = landing.target.clone();
            whole::landed(ride, &call, &bead, &landing).await?;
            beads::finish(app, &call, project, &entry.bead, landing).await?;
            commit
        }
    };
    let name: Name = entry.bead.parse()?;
    // With a merge others have all commits of the work; else they are kept where work is rescued to.
    let pulls = ride.wanted.landing.pulls.is_some();
    let merged = ride.wanted.landing.how == How::Merge && entry.undone.is_none() && !pulls;
    let source = entry.source.clone();
    let gone = ride.fleet.at_bench(ride.folder.clone(), move |bench| {
        let landed = bench.head_of(&name.branch())?.is_some_and(|head| head == source);
        if landed && bench.info(&name).is_err() {
            // What others have put together has no worktree.
            return bench.end_branch(&name);
        }
        let branch = if !merged && landed { Fate::Delete } else { Fate::Auto };
        bench.remove(&name, Remove { branch, ..Remove::default() }).map(drop)
    });
    // It is in use, or somebody has changed files in it: then it stays, and nothing is lost.
    if let Err(error) = gone.await {
        tracing::info!(bead = %entry.bead, %error, "the worktree of a bead that landed stays");
    }
    let push = ride.wanted.landing.push.is_some() && !pulls;
    let (target, now) = (ride.target.clone(), ride.now());
    let end = move |entry: &mut Entry| {
        entry.end(if push { Stage::Pushing } else { Stage::Landed }, now);
        (entry.trouble, entry.why) = (None, None);
        (entry.target, entry.commit) = (Some(target.clone()), Some(commit.clone()));
        entry.part.clone_from(&part);
        (entry.undone, entry.alone) = (None, false);
    };
    ended(ride, entry, "landing:landed", end).await.map(drop)
}

/// Writes how an entry ended, and tells it.
pub(super) async fn ended(
    ride: &Ride,
    entry: &Entry,
    kind: &'static str,
    work: impl Fn(&mut Entry) + Send + Sync + Clone + 'static,
) -> Result<Entry> {
    // Whoever allowed it may be gone; what happened is told all the same.
    let call = ride.call(entry).await.unwrap_or_else(|_| ride.fleet.as_fleet(ride.tenant));
    let app = ride.fleet.app().clone();
    let change = move |tx: &mut Tx<'_>, entry: &mut Entry| {
        if entry.stage.is_over() {
            return Ok(());
        }
        work(entry);
        queue::tell(&app, &call, tx, kind, entry)
    };
    let changed = paper::change::<Entry, ()>(ride.fleet.app(), ride.tenant, entry.id, change);
    let entry = changed.await?.0;
    ride.fleet.own.moved.notify_waiters();
    Ok(entry)
}

/// Ends an entry that is not what was allowed to land.
pub(super) async fn changed(ride: &Ride, entry: &Entry, why: String) -> Result<()> {
    let entry = fail(ride, entry, Trouble::Changed, &why).await?;
    tell_person(ride, &entry).await
}

pub(super) async fn fail(ride: &Ride, entry: &Entry, trouble: Trouble, why: &str) -> Result<Entry> {
    let (why, now) = (why.to_owned(), ride.now());
    let end = move |entry: &mut Entry| {
        entry.end(Stage::Failed, now);
        (entry.trouble, entry.why) = (Some(trouble), Some(why.clone()));
    };
    ended(ride, entry, "landing:failed", end).await
}

/// Does what comes next for work that cannot land: it is repaired, mended, or a person is told.
pub(super) async fn trouble(
    ride: &Ride,
    entry: &Entry,
    trouble: Trouble,
    why: Hindrance,
) -> Result<()> {
    if let Hindrance::Conflict(files) = &why
        && mend::may(ride, entry)
        && entry.undone.is_none()
    {
        return mend::begin(ride, entry, files.clone(), why.to_string()).await;
    }
    give_up(ride, entry, trouble, &why).await
}

/// Ends an entry that nothing more is tried for; who asked decides who hears of it.
pub(super) async fn give_up(
    ride: &Ride,
    entry: &Entry,
    trouble: Trouble,
    why: &Hindrance,
) -> Result<()> {
    if entry.asked == Asked::Convoy && !matches!(why, Hindrance::Blocked(_)) {
        mend_by_another(ride, entry, &refusal(&ride.target, why)).await?;
    }
    let entry = fail(ride, entry, trouble, &why.to_string()).await?;
    match entry.asked {
        Asked::Person => tell_person(ride, &entry).await,
        Asked::Convoy if matches!(why, Hindrance::Blocked(_)) => tell_person(ride, &entry).await,
        Asked::Convoy | Asked::Review => Ok(()),
    }
}

/// Lets the next agent mend the work, with the reasons as a comment.
pub(super) async fn mend_by_another(ride: &Ride, entry: &Entry, words: &str) -> Result<()> {
    let (call, app) = (ride.call(entry).await?, ride.fleet.app());
    let project = Some(ride.project);
    let bead = beads::get(app, &call, project, &entry.bead).await?.value.0;
    let last = bead.comments.last().and_then(|one| one.get("text")?.as_str());
    if last != Some(words) {
        beads::comment(app, &call, project, &entry.bead, words.to_owned()).await?;
    }
    if bead.status == BeadStatus::Review {
        send_back(&ride.fleet, &call, (ride.project, &entry.bead), words).await?;
    }
    Ok(())
}

/// Returns the agent that worked on a bead last, or on a part of it.
pub(super) async fn last_agent(ride: &Ride, entry: &Entry) -> Result<Option<Agent>> {
    if let Some(own) = last_agent_of(ride, &entry.bead).await? {
        return Ok(Some(own));
    }
    // Whoever allowed it may be gone.
    let call = ride.call(entry).await.unwrap_or_else(|_| ride.fleet.as_fleet(ride.tenant));
    let bead = beads::get(ride.fleet.app(), &call, Some(ride.project), &entry.bead).await?.value.0;
    let mut last: Option<Agent> = None;
    for part in whole::parts(ride, &call, &bead).await? {
        let found = last_agent_of(ride, &part.id).await?;
        last = last.into_iter().chain(found).max_by_key(|agent| agent.spawned_at);
    }
    Ok(last)
}

async fn last_agent_of(ride: &Ride, bead: &str) -> Result<Option<Agent>> {
    let owner = Agent::owner_of(ride.project, bead);
    let find = move |tx: &mut Tx<'_>| paper::of::<Agent>(tx, &owner, None, LOOK_MAX);
    let found = paper::look(ride.fleet.app(), ride.tenant, find).await?;
    Ok(found.into_iter().find(Agent::did_the_work))
}

/// Tells a person that work does not land; one notice for one bead.
pub(super) async fn tell_person(ride: &Ride, entry: &Entry) -> Result<()> {
    let Some(agent) = last_agent(ride, entry).await? else { return Ok(()) };
    let bead = &entry.bead;
    let why = entry.why.as_deref().unwrap_or("it is not known why");
    let text = format!(
        "{bead} did not land in {}: {why}\nLook at it: godel bead show {bead}; then `godel land retry {bead}`, \
         or `godel bead status {bead} open` for another agent.",
        ride.target
    );
    let (fleet, told) = (ride.fleet.clone(), text);
    let work = move |tx: &mut Tx<'_>| {
        // What was said when the work came to review is not what is wanted now.
        inbox::close_all(tx, &agent, &[NoticeKind::Review])?;
        inbox::raise(&fleet, tx, &agent, NoticeKind::Review, (&told, &[])).map(drop)
    };
    paper::write(ride.fleet.app(), ride.tenant, work).await
}

/// Notes that a line cannot be led; one whose project or person is gone ends.
pub(super) async fn stall(
    fleet: &Fleet,
    tenant: TenantId,
    entry: &Entry,
    error: &Error,
) -> Result<()> {
    let kind = error.code().kind();
    let gone = matches!(kind, Kind::NotFound | Kind::Unauthorized | Kind::Forbidden);
    let why = error.to_string();
    let now = fleet.app().clock.now();
    tracing::warn!(%tenant, bead = %entry.bead, %error, "the merge queue of a project stands still");
    let work = move |_: &mut Tx<'_>, entry: &mut Entry| {
        entry.why = Some(why.clone());
        entry.not_before = Some(now + STALLED);
        if gone && matches!(entry.stage, Stage::Waiting | Stage::Mending | Stage::Proposed) {
            entry.end(Stage::Failed, now);
            entry.trouble = Some(Trouble::Changed);
        }
        Ok(())
    };
    paper::change::<Entry, ()>(fleet.app(), tenant, entry.id, work).await.map(drop)
}
