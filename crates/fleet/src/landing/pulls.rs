//! Landing by pull requests: work that passed is pushed and proposed on the forge, and has landed when it is merged there.
//!
//! Each step begins with a question to the other side and ends with a change of the entry, so that a server which is
//! killed anywhere goes on with the same step and does nothing twice.

use godel_agents::gates::{GateResult, Review};
use godel_app::beads;
use godel_forge::{
    Checks, Error as No, Forge, Head, Look, Mergeable, Merging, NewPull, Pull, Standing, Verdict,
};
use godel_git::{Landed, Load, Name, Workbench};
use godel_model::{BeadStatus, Report as _, TenantId, code};
use jiff::SignedDuration;

use super::entry::{Asked, Entry, Moving, PullRequest, Stage, Trouble};
use super::train::{Ride, begin_for};
use super::{Hindrance, forges, refusal, settle, words};
use crate::{Error, Fleet, Result};

/// The longest time between two tries of what fails.
const PAUSE_MAX_SECS: i64 = 300;
/// The longest time between two looks at what does not change.
const LOOK_MAX_SECS: i64 = 60;
/// How long what may not be begun waits while the line stands still.
const PAUSED: SignedDuration = SignedDuration::from_secs(5);
/// After so many looks without a change it is looked at even less often.
const LOOKS_MANY: u32 = 60;
/// After so many looks without any check it is believed that there are none: a forge needs a while to begin them.
const LOOKS_UNCHECKED: u32 = 4;

/// Finds out where the branch is on the forge, before something is laid on it; `false` if that does not work now.
pub(super) async fn fetched(ride: &mut Ride, group: &[Entry]) -> Result<bool> {
    if ride.wanted.landing.pulls.is_none() {
        return Ok(true);
    }
    match fetch(ride, group.first()).await {
        Ok(tip) => {
            ride.upstream = Some(tip);
            Ok(true)
        }
        Err(error) => {
            for entry in group {
                later(ride, entry, &error).await?;
            }
            Ok(false)
        }
    }
}

/// Fetches the branch, and lets the one of this repository follow if nothing of a person's is in the way.
async fn fetch(ride: &Ride, first: Option<&Entry>) -> Result<String> {
    let (remote, target) = (forges::remote(ride)?, ride.target.clone());
    let bead: Option<Name> = first.map(|entry| entry.bead.parse()).transpose()?;
    let work = move |bench: &Workbench| {
        let tip = bench.fetch(&remote, &target)?;
        let followed = bead.map(|bead| bench.landing().catch_up(&bead, &target, &tip));
        Ok((tip, followed.transpose()))
    };
    let (tip, followed) = ride.fleet.at_bench(ride.folder.clone(), work).await?;
    match followed {
        Ok(None | Some(Landed::Done)) => {}
        Ok(Some(hindrance)) => {
            tracing::info!(target = %ride.target, ?hindrance, "the branch does not follow the forge");
        }
        Err(error) => {
            tracing::warn!(target = %ride.target, %error, "the branch does not follow the forge");
        }
    }
    Ok(tip)
}

/// Notes that work passed the gates together with the branch, and is to be proposed.
pub(super) async fn propose(
    ride: &Ride,
    here: &[(Entry, Load, Moving)],
    results: &[GateResult],
) -> Result<()> {
    for (entry, ..) in here {
        if ride.fit(entry).await?.is_none() {
            continue;
        }
        let entry = ride.judged(entry, results).await?;
        let judged_on = ride.upstream.clone();
        let begun = move |entry: &mut Entry| {
            let pull = entry.pull.take().unwrap_or_default();
            entry.pull = Some(PullRequest { judged_on: judged_on.clone(), looks: 0, ..pull });
            (entry.stage, entry.tries) = (Stage::Proposed, 0);
            (entry.why, entry.not_before, entry.moving) = (None, None, None);
        };
        settle::ended(ride, &entry, "landing:passed", begun).await?;
    }
    Ok(())
}

/// Goes on with all pull requests that are due; while a line stands still, nothing is changed on the forge.
pub(super) async fn all(ride: &Ride, open: &[Entry], paused: bool) -> Result<()> {
    let now = ride.now();
    let due = |one: &&Entry| one.stage == Stage::Proposed && one.is_due(now);
    let due: Vec<&Entry> = open.iter().filter(due).collect();
    if due.is_empty() {
        return Ok(());
    }
    if ride.wanted.landing.pulls.is_none() {
        // Nobody wants pull requests any more.
        for entry in due {
            let back = |entry: &mut Entry| {
                (entry.stage, entry.why, entry.not_before) = (Stage::Waiting, None, None);
            };
            ride.change(entry, back).await?;
        }
        return Ok(());
    }
    let forge = forges::of(ride).await;
    let mut away: Option<Error> = None;
    for entry in due {
        // One that does not answer one question does not answer the next.
        let done = match (&away, &forge) {
            (Some(error), _) | (None, Err(error)) => {
                later(ride, entry, error).await?;
                continue;
            }
            (None, Ok(forge)) => advance(ride, forge.as_ref(), (entry, paused)).await,
        };
        if let Err(error) = done {
            later(ride, entry, &error).await?;
            if matches!(error, Error::Forge(No::Away { .. } | No::Limited { .. })) {
                away = Some(error);
            }
        }
    }
    Ok(())
}

async fn advance(ride: &Ride, forge: &dyn Forge, (entry, paused): (&Entry, bool)) -> Result<()> {
    if !is_wanted(ride, entry).await? {
        return Ok(());
    }
    let pull = entry.pull.clone().unwrap_or_default();
    let pushed = pull.pushed.as_deref() == Some(entry.source.as_str());
    match pull.number {
        Some(number) if pushed || paused => look(ride, forge, entry, (number, paused)).await,
        None if paused => {
            let until = ride.now() + PAUSED;
            ride.change(entry, move |entry| entry.not_before = Some(until)).await.map(drop)
        }
        Some(_) | None => open(ride, forge, entry).await,
    }
}

/// Tells whether an entry is still what was allowed; new commits are judged anew, or have to be allowed.
async fn is_wanted(ride: &Ride, entry: &Entry) -> Result<bool> {
    let call = ride.call(entry).await?;
    let found = beads::get(ride.fleet.app(), &call, Some(ride.project), &entry.bead).await?;
    let bead = found.value.0;
    if !matches!(bead.status, BeadStatus::Review | BeadStatus::Done) {
        let why = format!("it is {} and not in review", bead.status);
        settle::changed(ride, entry, why).await?;
        return Ok(false);
    }
    let branch = bead.id.parse::<Name>()?.branch();
    let head = ride.fleet.at_bench(ride.folder.clone(), move |bench| bench.head_of(&branch));
    let Some(head) = head.await?.filter(|head| *head != entry.source) else { return Ok(true) };
    let merges = ride.wanted.landing.pulls.as_ref().is_some_and(|pulls| pulls.merge);
    if merges && ride.wanted.review != Review::Auto {
        let why = "its branch has other commits than those that were allowed to land".to_owned();
        settle::changed(ride, entry, why).await?;
        return Ok(false);
    }
    // Whoever merges it on the forge sees them there.
    let renewed = move |entry: &mut Entry| {
        (entry.stage, entry.source) = (Stage::Waiting, head.clone());
        (entry.why, entry.not_before) = (None, None);
    };
    settle::ended(ride, entry, "landing:renewed", renewed).await?;
    Ok(false)
}

/// Brings the work to the forge, and finds its pull request or opens one.
async fn open(ride: &Ride, forge: &dyn Forge, entry: &Entry) -> Result<()> {
    let name: Name = entry.bead.parse()?;
    let branch = name.branch();
    push(ride, entry, &branch).await?;
    let source = entry.source.clone();
    let entry = ride
        .change(entry, move |entry| {
            entry.pull.get_or_insert_default().pushed = Some(source.clone());
        })
        .await?;
    let head = Head { branch: &branch, base: &ride.target };
    let block = words::block(&entry, &ride.target);
    let title = words::title(&entry);
    let pull = match chosen(forge.find(head).await?, &entry.source) {
        Some(pull) => match godel_forge::marked::renewed(&pull.body, &block) {
            Some(body) if pull.standing == Standing::Open => {
                forge.edit(pull.number, &pull.title, &body).await?
            }
            _ => pull,
        },
        None => match forge.open(NewPull { head, title: &title, body: &block }).await {
            // Another server was faster.
            Err(error @ No::Refused { .. }) => {
                chosen(forge.find(head).await?, &entry.source).ok_or(error)?
            }
            opened => opened?,
        },
    };
    let until = ride.now() + pause(0);
    let opened = move |entry: &mut Entry| {
        let own = entry.pull.get_or_insert_default();
        (own.number, own.url, own.looks) = (Some(pull.number), Some(pull.url.clone()), 0);
        own.state = Some(standing(pull.standing).to_owned());
        (entry.why, entry.tries, entry.not_before) = (None, 0, Some(until));
    };
    settle::ended(ride, &entry, "landing:proposed", opened).await.map(drop)
}

/// Chooses the pull request that is about this work.
fn chosen(found: Vec<Pull>, source: &str) -> Option<Pull> {
    let (open, over): (Vec<Pull>, Vec<Pull>) =
        found.into_iter().partition(|pull| pull.standing == Standing::Open);
    let merged = |pull: &Pull| pull.standing == Standing::Merged && pull.head == source;
    open.into_iter().next().or_else(|| over.into_iter().find(merged))
}

/// Pushes the work under the name of its branch; what others have pushed there is never lost.
async fn push(ride: &Ride, entry: &Entry, branch: &str) -> Result<()> {
    let (remote, source, branch) = (forges::remote(ride)?, entry.source.clone(), branch.to_owned());
    let last = entry.pull.as_ref().and_then(|pull| pull.pushed.clone());
    let work = move |bench: &Workbench| {
        let plainly = bench.push_commit(&remote, (&source, &branch), None);
        match (plainly, last) {
            // Work that was laid anew takes the place of what Godel itself pushed.
            (Err(error), Some(last)) if error.to_string().contains("failed to push some refs") => {
                bench.push_commit(&remote, (&source, &branch), Some(&last))
            }
            (plainly, _) => plainly,
        }
    };
    ride.fleet.at_bench(ride.folder.clone(), work).await
}

async fn look(
    ride: &Ride,
    forge: &dyn Forge,
    entry: &Entry,
    (number, paused): (u64, bool),
) -> Result<()> {
    let seen = forge.look(number).await?;
    match seen.pull.standing {
        Standing::Merged => merged(ride, entry, &seen.pull).await,
        Standing::Closed => closed(ride, entry, &seen.pull).await,
        Standing::Open => {
            let (entry, ready) = note(ride, entry, &seen).await?;
            let Some(entry) = entry else { return Ok(()) };
            if !ready || paused {
                return Ok(());
            }
            match is_newer(ride, &entry).await? {
                true => judge_again(ride, &entry).await,
                false => merge(ride, forge, (&entry, number)).await,
            }
        }
    }
}

/// Tells whether the branch has moved on the forge since the work was judged.
async fn is_newer(ride: &Ride, entry: &Entry) -> Result<bool> {
    let judged_on = entry.pull.as_ref().and_then(|pull| pull.judged_on.clone());
    Ok(Some(fetch(ride, None).await?) != judged_on)
}

/// Lets the work be judged together with what the branch is by now.
async fn judge_again(ride: &Ride, entry: &Entry) -> Result<()> {
    let back = |entry: &mut Entry| {
        (entry.stage, entry.why, entry.not_before) = (Stage::Waiting, None, None);
    };
    ride.change(entry, back).await.map(drop)
}

async fn merge(ride: &Ride, forge: &dyn Forge, (entry, number): (&Entry, u64)) -> Result<()> {
    let (title, body) = (words::title(entry), format!("Bead: {}", entry.bead));
    let (how, head) = (ride.wanted.landing.how, entry.source.as_str());
    forge.merge(number, Merging { how, head, title: &title, body: &body }).await?;
    let seen = forge.look(number).await?;
    if seen.pull.standing == Standing::Merged {
        return merged(ride, entry, &seen.pull).await;
    }
    let until = ride.now() + pause(0);
    ride.change(entry, move |entry| entry.not_before = Some(until)).await.map(drop)
}

/// Notes what is to be known of an open pull request; tells whether Godel is to merge it.
async fn note(ride: &Ride, entry: &Entry, seen: &Look) -> Result<(Option<Entry>, bool)> {
    let pull = entry.pull.clone().unwrap_or_default();
    let merges = ride.wanted.landing.pulls.as_ref().is_some_and(|pulls| pulls.merge);
    if let Checks::Failed(named) = &seen.checks
        && entry.asked == Asked::Convoy
    {
        let why = Hindrance::Gate(format!("the forge's checks fail: {}", named.join(", ")));
        settle::trouble(ride, entry, Trouble::Gate, why).await?;
        return Ok((None, false));
    }
    if seen.mergeable == Mergeable::Conflict && is_newer(ride, entry).await? {
        judge_again(ride, entry).await?;
        return Ok((None, false));
    }
    let why = hindrance(entry, seen, merges);
    let told = (
        Some(standing(seen.pull.standing).to_owned()),
        Some(checks(&seen.checks).to_owned()),
        Some(verdict(seen.verdict).to_owned()),
    );
    let same = entry.why == why
        && (&pull.state, &pull.checks, &pull.review) == (&told.0, &told.1, &told.2);
    let looks = if same { pull.looks.saturating_add(1) } else { 0 };
    let until = ride.now() + pause(looks);
    let (said, url) = (why.clone(), seen.pull.url.clone());
    let noted = move |entry: &mut Entry| {
        let own = entry.pull.get_or_insert_default();
        (own.state, own.checks, own.review) = told.clone();
        (own.looks, own.url) = (looks, Some(url.clone()));
        (entry.why, entry.tries, entry.not_before) = (said.clone(), 0, Some(until));
    };
    let entry = ride.change(entry, noted).await?;
    let green = match seen.checks {
        Checks::Passed => true,
        Checks::None => looks >= LOOKS_UNCHECKED,
        Checks::Pending | Checks::Failed(_) => false,
    };
    let ready = merges && green && why.is_none() && seen.mergeable == Mergeable::Yes;
    let gone = entry.stage != Stage::Proposed;
    if !same {
        ride.fleet.own.moved.notify_waiters();
    }
    Ok((Some(entry).filter(|_| !gone), ready))
}

/// Says what keeps a pull request from being merged that nobody but a person can change.
fn hindrance(entry: &Entry, seen: &Look, merges: bool) -> Option<String> {
    if seen.pull.head != entry.source {
        let short = seen.pull.head.get(..10).unwrap_or(&seen.pull.head);
        return Some(format!("somebody pushed {short} to its branch on the forge: merge it there"));
    }
    if let Checks::Failed(named) = &seen.checks {
        return Some(format!("checks fail on the forge: {}", named.join(", ")));
    }
    match (&seen.mergeable, seen.verdict) {
        (Mergeable::Conflict, _) => Some("the forge says that it conflicts".to_owned()),
        (_, Verdict::ChangesRequested) => Some("changes are asked for on the forge".to_owned()),
        _ if seen.pull.draft => Some("it is a draft".to_owned()),
        (Mergeable::Blocked(why), _) if merges && seen.checks != Checks::Pending => {
            Some(format!("the forge does not let it be merged yet: {why}"))
        }
        _ => None,
    }
}

/// Ends a bead whose pull request was merged, by whomever.
async fn merged(ride: &Ride, entry: &Entry, pull: &Pull) -> Result<()> {
    let tip = fetch(ride, Some(entry)).await?;
    let commit = pull.merged_as.clone().unwrap_or_else(|| tip.clone());
    let (older, newer) = (commit.clone(), tip);
    let there = move |bench: &Workbench| bench.is_ancestor(&older, &newer);
    // A forge may say so before git hears of it.
    if !ride.fleet.at_bench(ride.folder.clone(), there).await.unwrap_or(false) {
        let why = format!("it is merged as {commit}, which is not in {} yet", ride.target);
        return Err(Error::refused(code::FORGE_UNAVAILABLE, why, "it is looked at again"));
    }
    let url = pull.url.clone();
    let known = move |entry: &mut Entry| {
        let own = entry.pull.get_or_insert_default();
        (own.state, own.url) = (Some("merged".to_owned()), Some(url.clone()));
    };
    let entry = ride.change(entry, known).await?;
    settle::merged(ride, &entry, (&commit, &pull.head)).await
}

/// Lets work be mended whose pull request somebody closed.
async fn closed(ride: &Ride, entry: &Entry, pull: &Pull) -> Result<()> {
    let why = Hindrance::Closed(pull.url.clone());
    settle::mend_by_another(ride, entry, &refusal(&ride.target, &why)).await?;
    let known = |entry: &mut Entry| {
        entry.pull.get_or_insert_default().state = Some("closed".to_owned());
    };
    let entry = ride.change(entry, known).await?;
    let entry = settle::fail(ride, &entry, Trouble::Closed, &why.to_string()).await?;
    settle::tell_person(ride, &entry).await
}

/// Closes the pull request of a bead that somebody took out of the line.
pub(super) async fn withdraw(fleet: &Fleet, tenant: TenantId, entry: &Entry) {
    let Some(number) = entry.pull.as_ref().and_then(|pull| pull.number) else { return };
    let work = async {
        let ride = begin_for(fleet, tenant, entry).await?;
        let forge = forges::of(&ride).await?;
        let why = entry.why.as_deref().unwrap_or("somebody took it out");
        forge.comment(number, &format!("This does not land now: {why}.")).await?;
        Ok::<_, Error>(forge.close(number).await?)
    };
    if let Err(error) = work.await {
        tracing::warn!(bead = %entry.bead, %error, "a pull request stays open");
    }
}

/// Tries again later what did not work; what does not pass by itself is told to a person once.
async fn later(ride: &Ride, entry: &Entry, error: &Error) -> Result<()> {
    let lasting = match error {
        Error::Forge(no) => !no.is_passing(),
        error => !error.code().kind().retryable() || error.code() == code::FORGE_REFUSED,
    };
    if lasting {
        // The token may be another by now.
        forges::forget(ride);
    }
    let hint = error.hint().filter(|_| lasting).map(|hint| format!("; {hint}"));
    let why = format!("its pull request waits: {error}{}", hint.unwrap_or_default());
    let after = match error {
        Error::Forge(no) => no.after().and_then(|after| i64::try_from(after.as_secs()).ok()),
        _ => None,
    };
    let seconds = 5_i64.saturating_mul(1 << entry.tries.min(6)).min(PAUSE_MAX_SECS);
    let until = ride.now() + SignedDuration::from_secs(after.unwrap_or(0).max(seconds));
    let news = entry.why.as_deref() != Some(why.as_str());
    let wait = move |entry: &mut Entry| {
        entry.tries = entry.tries.saturating_add(1);
        (entry.why, entry.not_before) = (Some(why.clone()), Some(until));
    };
    let entry = match news {
        true => settle::ended(ride, entry, "landing:waits", wait).await?,
        false => ride.change(entry, wait).await?,
    };
    if lasting && news {
        settle::tell_person(ride, &entry).await?;
    }
    Ok(())
}

/// How long nothing is asked about what does not change.
fn pause(looks: u32) -> SignedDuration {
    let seconds = if looks > LOOKS_MANY { PAUSE_MAX_SECS } else { LOOK_MAX_SECS };
    SignedDuration::from_secs((2_i64 << looks.min(9)).min(seconds))
}

const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Merged => "merged",
        Standing::Closed => "closed",
    }
}

const fn checks(checks: &Checks) -> &'static str {
    match checks {
        Checks::None => "none",
        Checks::Pending => "pending",
        Checks::Passed => "passed",
        Checks::Failed(_) => "failed",
    }
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::None => "none",
        Verdict::Approved => "approved",
        Verdict::ChangesRequested => "changes_requested",
    }
}
