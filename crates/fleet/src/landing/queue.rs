//! The merge queue as people use it: put in, look, take out, hold up.

use std::time::Duration;

use godel_app::{Call, beads};
use godel_beads::Bead;
use godel_model::{AuditResult, BeadStatus, EventId, ProjectId, Reach, TenantId, code};
use godel_store::Tx;
use jiff::Timestamp;
use serde_json::json;
use tracing::instrument;
use uuid::Uuid;

use super::entry::{Asked, Entry, Line, Paused, PullRequest, Stage};
use super::pulls;
use crate::{Error, Fleet, Result, paper};

/// The longest that somebody waits for a landing in one request.
pub const WAIT_MAX: Duration = Duration::from_secs(20);
/// How many entries are looked at in one go.
pub(super) const LOOK_MAX: usize = 10_000;
/// How many landings of the past tell how long one takes.
const HISTORY: usize = 50;
/// How long a reason may be.
const REASON_MAX_CHARS: usize = 500;

/// An entry, and what is to be expected of it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The entry.
    pub entry: Entry,
    /// Its place in the line, from 1; nothing if it is over.
    pub position: Option<u32>,
    /// After how many seconds it has probably landed, as far as earlier ones tell.
    pub eta_seconds: Option<u64>,
}

/// The line of a project.
#[derive(Debug, Clone)]
pub struct Status {
    /// The project.
    pub project: ProjectId,
    /// Whether it stands still.
    pub paused: Option<Paused>,
    /// What is in it, in order, and then what is over, the newest first.
    pub places: Vec<Place>,
}

/// Who is to land, and on whose wish.
pub(crate) struct Wish<'a> {
    pub(crate) project: Option<ProjectId>,
    pub(crate) bead: &'a str,
    pub(crate) asked: Asked,
    pub(crate) convoy: Option<String>,
    /// The commit that was looked at; whatever came since does not land.
    pub(crate) commit: Option<String>,
}

/// Puts a bead into the line, on the wish of a person; with a commit, only if that is still its last.
///
/// # Errors
/// If the caller may not, or the bead is not in review.
#[instrument(level = "debug", name = "fleet.landing.add", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn add(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
    commit: Option<String>,
) -> Result<Entry> {
    call.may("review", "update", Reach::Own)?;
    let wish = Wish { project, bead, asked: Asked::Person, convoy: None, commit };
    enter(fleet, call, wish).await
}

/// Puts a bead into the line, whoever allowed it; one that is in it already stays where it is.
pub(crate) async fn enter(fleet: &Fleet, call: &Call, wish: Wish<'_>) -> Result<Entry> {
    let found = beads::get(fleet.app(), call, wish.project, wish.bead).await?;
    let (project, bead) = (found.project, found.value.0);
    if !matches!(bead.status, BeadStatus::Review | BeadStatus::Done) {
        return Err(Error::refused(
            code::LANDING_REFUSED,
            format!("bead {} is {} and not in review", bead.id, bead.status),
            "an agent moves it there when its work is done and checked",
        ));
    }
    let fresh = draft(fleet, call, (project, &bead), &wish).await?;
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let known = paper::by_label::<Entry>(tx, &fresh.name)?;
        let entry = match known {
            Some(known) if is_same(&known, &fresh) => return look_now(tx, known, &fresh),
            Some(known) => {
                let change = |_: &mut Tx<'_>, entry: &mut Entry| {
                    let (id, mends, alone) = (entry.id, entry.mends, entry.alone);
                    // Of the same work it stays true that it was taken back; new work says so itself.
                    let undone = entry.undone.take().filter(|_| entry.source == fresh.source);
                    // Its pull request is found again by its branch, which is still what was pushed.
                    let pushed = entry.pull.take().and_then(|pull| pull.pushed);
                    let pull = pushed.map(|pushed| PullRequest {
                        pushed: Some(pushed),
                        ..PullRequest::default()
                    });
                    *entry = Entry { id, mends, alone, undone, pull, ..fresh.clone() };
                    Ok(())
                };
                paper::change_in::<Entry, ()>(tx, known.id, change)?.0
            }
            None if paper::insert(tx, &fresh)? => fresh.clone(),
            None => return Err(Error::Raced("merge queue")),
        };
        tell(&app, &call_, tx, "landing:added", &entry)?;
        Ok(entry)
    };
    let entry = paper::write(fleet.app(), call.actor.tenant, work).await?;
    fleet.enlist(call.actor.tenant);
    fleet.own.moved.notify_waiters();
    Ok(entry)
}

/// Whoever asks about a pull request wants it looked at now.
fn look_now(tx: &mut Tx<'_>, known: Entry, fresh: &Entry) -> Result<Entry> {
    if known.stage != Stage::Proposed || fresh.asked != Asked::Person {
        return Ok(known);
    }
    let change = |_: &mut Tx<'_>, entry: &mut Entry| {
        entry.not_before = None;
        Ok(())
    };
    Ok(paper::change_in::<Entry, ()>(tx, known.id, change)?.0)
}

/// Tells whether nothing is to be done for a wish: it is in the line, or has landed.
fn is_same(known: &Entry, fresh: &Entry) -> bool {
    let same = known.source == fresh.source;
    match known.stage {
        Stage::Waiting | Stage::Proposed => same,
        Stage::Checking | Stage::Mending => true,
        Stage::Pushing | Stage::Landed => same && known.commit.is_some(),
        // What a person says again is tried again; nobody else asks twice for the same.
        Stage::Failed | Stage::Removed | Stage::Reverted => same && fresh.asked != Asked::Person,
    }
}

async fn draft(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &Bead),
    wish: &Wish<'_>,
) -> Result<Entry> {
    let (_, folder) = fleet.project(call, project).await?;
    let name: godel_git::Name = bead.id.parse()?;
    let (branch, at) = (name.branch(), name.branch());
    let head = fleet.at_bench(folder, move |bench| bench.head_of(&at)).await?;
    let landed = || bead.landed.as_ref()?.get("source")?.as_str().map(str::to_owned);
    let source = head.or_else(landed).ok_or_else(|| {
        Error::refused(
            code::LANDING_REFUSED,
            format!("bead {} has no branch {branch} with its work", bead.id),
            "an agent makes it; `git branch` shows what there is",
        )
    })?;
    if wish.commit.as_ref().is_some_and(|seen| *seen != source) {
        return Err(Error::refused(
            code::LANDING_REFUSED,
            format!("bead {} has other commits by now than those that were looked at", bead.id),
            format!("look at them: godel review show {}", bead.id),
        ));
    }
    let app = fleet.app();
    Ok(Entry {
        id: app.mint.id::<EventId>().uuid(),
        name: Entry::name_of(project, &bead.id),
        project,
        bead: bead.id.clone(),
        title: bead.title.clone(),
        source,
        user: call.actor.user,
        asked: wish.asked,
        convoy: wish.convoy.clone(),
        stage: Stage::Waiting,
        trouble: None,
        why: None,
        files: Vec::new(),
        onto: bead.lands_in().map(str::to_owned),
        target: None,
        commit: None,
        moving: None,
        part: None,
        undone: None,
        pull: None,
        verdicts: Vec::new(),
        batch: None,
        alone: false,
        mender: None,
        mends: 0,
        tries: 0,
        not_before: None,
        added_at: app.clock.now(),
        placed_at: None,
        began_at: None,
        ended_at: None,
    })
}

/// Tells of a change of an entry, on record too.
pub(super) fn tell(
    app: &godel_app::App,
    call: &Call,
    tx: &mut Tx<'_>,
    kind: &'static str,
    entry: &Entry,
) -> Result<()> {
    let told = json!({
        "bead": entry.bead, "stage": entry.stage, "asked": entry.asked, "source": entry.source,
        "target": entry.target, "commit": entry.commit, "trouble": entry.trouble, "why": entry.why,
        "mender": entry.mender, "batch": entry.batch,
        "pullRequest": entry.pull.as_ref().and_then(|pull| pull.url.as_ref()),
    });
    let mut event = call.event(app, kind, &told, ("beadId", &entry.bead));
    event.metadata.refs.insert("projectId".into(), entry.project.to_string());
    if let Some(convoy) = &entry.convoy {
        event.metadata.refs.insert("convoyId".into(), convoy.clone());
    }
    Ok(call.tell(app, tx, event)?)
}

/// Reads the entry of a bead, if it was ever in the line.
///
/// # Errors
/// If the store fails.
pub async fn find(
    fleet: &Fleet,
    tenant: TenantId,
    (project, bead): (ProjectId, &str),
) -> Result<Option<Entry>> {
    let name = Entry::name_of(project, bead);
    paper::look(fleet.app(), tenant, move |tx| paper::by_label::<Entry>(tx, &name)).await
}

/// Lists entries with which something is still to happen.
pub(super) fn open(tx: &mut Tx<'_>) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    for stage in Stage::OPEN {
        found.extend(paper::in_state::<Entry>(tx, stage.as_str(), None, LOOK_MAX)?);
    }
    found.sort_by_key(Entry::place);
    Ok(found)
}

/// Shows the lines of all projects that the caller works in, or of one.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.landing.status", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn status(
    fleet: &Fleet,
    call: &Call,
    project: Option<ProjectId>,
    past: usize,
) -> Result<Vec<Status>> {
    call.may("review", "read", Reach::Team)?;
    let actor = call.actor.clone();
    let wanted = move |at: ProjectId| project.is_none_or(|one| one == at) && actor.works_in(at);
    let look = move |tx: &mut Tx<'_>| {
        let mut known = open(tx)?;
        known.retain(|entry| wanted(entry.project));
        let mut over = Vec::new();
        for stage in Stage::ALL.into_iter().filter(|stage| stage.is_over()) {
            let page = |from, limit| paper::in_state::<Entry>(tx, stage.as_str(), from, limit);
            let some = paper::gather((None, past.max(HISTORY)), page, |one| wanted(one.project))?;
            over.extend(some);
        }
        let lines = paper::page::<Line>(tx, None, LOOK_MAX)?;
        Ok((known, over, lines))
    };
    let (known, mut over, lines) = paper::look(fleet.app(), call.actor.tenant, look).await?;
    over.sort_by_key(|entry| std::cmp::Reverse(entry.ended_at));
    let mut projects: Vec<ProjectId> = known.iter().chain(&over).map(|one| one.project).collect();
    projects.extend(lines.iter().filter(|line| line.paused.is_some()).map(|line| line.project));
    projects.retain(|one| project.is_none_or(|wanted| wanted == *one) && call.actor.works_in(*one));
    projects.sort_unstable();
    projects.dedup();
    Ok(projects
        .into_iter()
        .map(|project| {
            let of = |entries: &[Entry]| -> Vec<Entry> {
                entries.iter().filter(|one| one.project == project).cloned().collect()
            };
            let paused = lines.iter().find(|line| line.project == project);
            let paused = paused.and_then(|line| line.paused.clone());
            Status { project, paused, places: places(of(&known), of(&over), past) }
        })
        .collect())
}

/// Says when those in a line have probably landed.
fn places(open: Vec<Entry>, over: Vec<Entry>, past: usize) -> Vec<Place> {
    let each = usual_seconds(&over);
    let mut waiting = 0_u32;
    let mut places: Vec<Place> = open
        .into_iter()
        .map(|entry| {
            let in_line = matches!(entry.stage, Stage::Waiting | Stage::Checking);
            waiting += u32::from(in_line);
            let eta = each.map(|each| each.saturating_mul(u64::from(waiting)));
            let position = in_line.then_some(waiting);
            Place { entry, position, eta_seconds: eta.filter(|_| in_line) }
        })
        .collect();
    let over = over.into_iter().take(past);
    places.extend(over.map(|entry| Place { entry, position: None, eta_seconds: None }));
    places
}

/// Returns how long one landing takes, from the middle of those that landed; rounded up.
fn usual_seconds(over: &[Entry]) -> Option<u64> {
    let took = |entry: &Entry| -> Option<i64> {
        let (began, ended) = (entry.began_at?, entry.ended_at?);
        // How long people look at a pull request says nothing about the next one.
        (entry.stage == Stage::Landed && entry.pull.is_none())
            .then(|| (ended.as_millisecond() - began.as_millisecond()).max(0))
    };
    let mut all: Vec<i64> = over.iter().filter_map(took).take(HISTORY).collect();
    all.sort_unstable();
    let middle = all.get(all.len() / 2)?;
    Some(u64::try_from(*middle).unwrap_or(0).div_ceil(1_000).max(1))
}

/// Finds the entry of a bead, and waits up to a time until it is over or needs something.
///
/// # Errors
/// If the caller may not, or it was never in the line.
#[instrument(level = "debug", name = "fleet.landing.get", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn get(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
    patience: Duration,
) -> Result<Entry> {
    call.may("review", "read", Reach::Team)?;
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let which = (found.project, found.value.0.id.as_str());
    let until = tokio::time::Instant::now() + patience.min(WAIT_MAX);
    loop {
        let moved = fleet.own.moved.notified();
        let entry = find(fleet, call.actor.tenant, which).await?;
        let mut entry = entry.ok_or_else(|| Error::NotQueued(which.1.to_owned()))?;
        let opening = entry.pull.as_ref().is_none_or(|pull| pull.url.is_none());
        let goes_on = match entry.stage {
            Stage::Waiting | Stage::Checking => true,
            // People may take days.
            Stage::Proposed => opening,
            _ => false,
        };
        let waits = goes_on && entry.why.is_none();
        let now = tokio::time::Instant::now();
        if !waits || now >= until {
            return Ok(entry);
        }
        if is_paused(fleet, call.actor.tenant, which.0).await? {
            entry.why = Some("nothing lands here until `godel land resume`".to_owned());
            return Ok(entry);
        }
        // Another server may lead the line.
        let beat = now + Duration::from_secs(1);
        let _ = tokio::time::timeout_at(beat.min(until), moved).await;
    }
}

/// Takes a bead out of the line; what is being moved already lands, and a pull request is closed.
///
/// # Errors
/// If the caller may not, or it is not in the line.
#[instrument(level = "debug", name = "fleet.landing.remove", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn remove(fleet: &Fleet, call: &Call, which: (Option<ProjectId>, &str)) -> Result<Entry> {
    call.may("review", "update", Reach::Own)?;
    let entry = take_out(fleet, call, which).await?;
    if entry.pull.as_ref().is_some_and(|pull| pull.number.is_some()) {
        let (fleet_, tenant, entry) = (fleet.clone(), call.actor.tenant, entry.clone());
        // A forge may take its time; whether it hears of it changes nothing here.
        fleet.own.crew.spawn(async move { pulls::withdraw(&fleet_, tenant, &entry).await });
    }
    Ok(entry)
}

/// The same, while a pull request stays open for what comes next.
///
/// # Errors
/// If the caller may not, or nothing of the bead is in the line.
#[instrument(level = "debug", name = "fleet.landing.take_out", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn take_out(
    fleet: &Fleet,
    call: &Call,
    which: (Option<ProjectId>, &str),
) -> Result<Entry> {
    call.may("review", "update", Reach::Own)?;
    let entry = get(fleet, call, which, Duration::ZERO).await?;
    let (app, call_, now) = (fleet.app().clone(), call.clone(), fleet.app().clock.now());
    let work = move |tx: &mut Tx<'_>, entry: &mut Entry| {
        if entry.stage.is_over() || entry.stage == Stage::Pushing {
            return Err(Error::NotQueued(entry.bead.clone()));
        }
        if entry.moving.is_some() {
            return Err(Error::refused(
                code::LANDING_REFUSED,
                format!("{} is being moved into the branch right now", entry.bead),
                format!("look at it: godel land status; then: godel land revert {}", entry.bead),
            ));
        }
        entry.end(Stage::Removed, now);
        entry.why = Some(format!("{} took it out", call_.actor.name));
        tell(&app, &call_, tx, "landing:removed", entry)
    };
    let changed = paper::change::<Entry, ()>(fleet.app(), call.actor.tenant, entry.id, work);
    let entry = changed.await?.0;
    fleet.own.moved.notify_waiters();
    Ok(entry)
}

/// Lets a line stand still, or go on.
///
/// # Errors
/// If the caller may not, or there is no such project.
#[instrument(level = "debug", name = "fleet.landing.pause", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn pause(
    fleet: &Fleet,
    call: &Call,
    project: ProjectId,
    (on, reason): (bool, Option<String>),
) -> Result<Option<Paused>> {
    call.may("review", "update", Reach::Team)?;
    if reason.as_ref().is_some_and(|text| text.chars().count() > REASON_MAX_CHARS) {
        let why = format!("a reason has at most {REASON_MAX_CHARS} characters");
        return Err(Error::refused(code::INVALID_FIELD, why, "say it shorter"));
    }
    fleet.project(call, project).await?;
    let (app, call_, now) = (fleet.app().clone(), call.clone(), fleet.app().clock.now());
    let by = call.actor.name.clone();
    let work = move |tx: &mut Tx<'_>| {
        let line = line(&app, tx, project)?;
        let paused = on.then(|| Paused { by: by.clone(), reason: reason.clone(), at: now });
        let change = |_: &mut Tx<'_>, line: &mut Line| {
            line.paused.clone_from(&paused);
            Ok(())
        };
        let changed = paper::change_in::<Line, ()>(tx, line.id, change)?.0;
        let kind = if on { "landing:paused" } else { "landing:resumed" };
        let told = json!({ "reason": reason });
        let event = call_.event(&app, kind, &told, ("projectId", project));
        let act = call_.act(&app, kind, format!("project/{project}"), AuditResult::Ok);
        tx.record_act(call_.actor.tenant, act)?;
        tx.record_for(call_.actor.tenant, event)?;
        Ok(changed.paused)
    };
    let paused = paper::write(fleet.app(), call.actor.tenant, work).await?;
    fleet.enlist(call.actor.tenant);
    fleet.own.moved.notify_waiters();
    Ok(paused)
}

/// Finds the line of a project, or makes it.
pub(super) fn line(app: &godel_app::App, tx: &mut Tx<'_>, project: ProjectId) -> Result<Line> {
    let name = Line::name_of(project);
    if let Some(line) = paper::by_label::<Line>(tx, &name)? {
        return Ok(line);
    }
    let id: Uuid = app.mint.id::<EventId>().uuid();
    let until = Timestamp::UNIX_EPOCH;
    let line = Line { id, project, name: name.clone(), paused: None, leader: None, until };
    if paper::insert(tx, &line)? {
        return Ok(line);
    }
    paper::by_label::<Line>(tx, &name)?.ok_or(Error::Raced("merge queue"))
}

/// Tells whether a line stands still.
pub(super) async fn is_paused(fleet: &Fleet, tenant: TenantId, project: ProjectId) -> Result<bool> {
    let name = Line::name_of(project);
    let found = paper::look(fleet.app(), tenant, move |tx| paper::by_label::<Line>(tx, &name));
    Ok(found.await?.is_some_and(|line| line.paused.is_some()))
}
