//! The train: lands what is in the line of a project, and finds out who breaks the rest.

use std::path::PathBuf;
use std::sync::Arc;

use godel_agents::gates::{GateResult, Gates};
use godel_app::{Call, beads};
use godel_git::{Author, How, Landed, Load, Merge, Message, Name, Placed, Span, Stack};
use godel_model::{BeadStatus, EventId, ProjectId, Report as _, TenantId, code};
use godel_store::Tx;
use jiff::{SignedDuration, Timestamp};

use super::entry::{Entry, Moving, Stage, Trouble, Verdict};
use super::{Hindrance, after, judge, mend, pulls, push, queue, settle, whole};
use crate::fleet::lock;
use crate::{Error, Fleet, Result, paper, stop, wishes};

/// How often a landing begins anew because the branch has moved.
const TRIES: usize = 10;
/// How long something in the way is waited for before it is tried again.
const IN_THE_WAY: SignedDuration = SignedDuration::from_secs(5);
/// How often what gave no answer is tried again before a person is told.
const SILENT_MAX: u32 = 8;

/// What a ride knows about its project.
#[derive(Clone)]
pub(super) struct Ride {
    pub(super) fleet: Fleet,
    pub(super) tenant: TenantId,
    pub(super) project: ProjectId,
    pub(super) folder: PathBuf,
    pub(super) wanted: Gates,
    pub(super) target: String,
    /// The commit that the branch is at on the forge; nothing if work lands here.
    pub(super) upstream: Option<String>,
}

/// Lands what waits in a line until nothing can.
pub(super) async fn turn(fleet: &Fleet, tenant: TenantId, project: ProjectId) -> Result<()> {
    loop {
        if stop::refuse_if_stopped(fleet, tenant).await.is_err() {
            return Ok(());
        }
        let mut open = paper::look(fleet.app(), tenant, queue::open).await?;
        open.retain(|entry| entry.project == project);
        if open.is_empty() {
            return Ok(());
        }
        let Some(ride) = begin(fleet, tenant, &open).await? else { return Ok(()) };
        let one_at_a_time =
            Arc::clone(lock(&fleet.own.landings).entry(ride.folder.clone()).or_default());
        let _turn = one_at_a_time.lock().await;
        ride.recover(&open).await?;
        for entry in open.iter().filter(|entry| entry.stage == Stage::Mending) {
            let look = async { mend::look(&whole::aimed(&ride, entry).await?, entry).await };
            if let Err(error) = look.await {
                ride.silent(entry, &error).await?;
            }
        }
        let paused = queue::is_paused(fleet, tenant, project).await?;
        pulls::all(&ride, &open, paused).await?;
        if paused {
            return Ok(());
        }
        let mut open = paper::look(fleet.app(), tenant, queue::open).await?;
        open.retain(|entry| entry.project == project);
        push::all(&ride, &open).await?;
        let Some(first) = ride.first(&open) else { return Ok(()) };
        match whole::aimed(&ride, first).await {
            Ok(mut ride) => {
                let group = ride.group(&open, first);
                if !pulls::fetched(&mut ride, &group).await? {
                    return Ok(());
                }
                ride.carry(group).await;
            }
            Err(error) => ride.silent(first, &error).await?,
        }
        fleet.own.moved.notify_waiters();
    }
}

/// Finds out what a project wants, for the first entry of somebody who may know it; the others say why not.
async fn begin(fleet: &Fleet, tenant: TenantId, open: &[Entry]) -> Result<Option<Ride>> {
    for entry in open {
        match begin_for(fleet, tenant, entry).await {
            Ok(ride) => return Ok(Some(ride)),
            Err(error) => settle::stall(fleet, tenant, entry, &error).await?,
        }
    }
    Ok(None)
}

pub(super) async fn begin_for(fleet: &Fleet, tenant: TenantId, first: &Entry) -> Result<Ride> {
    let call = fleet.on_behalf(tenant, first.user).await?;
    let (_, folder) = fleet.project(&call, first.project).await?;
    let wanted = wishes::read(fleet, folder.clone()).await?;
    let target = wishes::target(fleet, folder.clone(), &wanted).await?.ok_or_else(|| {
        Error::refused(
            code::LANDING_REFUSED,
            "the repository has neither a branch main nor master",
            "say which branch work lands in: `[project] target` in godel.toml",
        )
    })?;
    let (fleet, project) = (fleet.clone(), first.project);
    Ok(Ride { fleet, tenant, project, folder, wanted, target, upstream: None })
}

impl Ride {
    pub(super) fn now(&self) -> Timestamp {
        self.fleet.app().clock.now()
    }

    /// Acts for the person who allowed a landing.
    pub(super) async fn call(&self, entry: &Entry) -> Result<Call> {
        self.fleet.on_behalf(self.tenant, entry.user).await
    }

    /// Changes an entry; nothing if somebody ended it meanwhile.
    pub(super) async fn change(
        &self,
        entry: &Entry,
        work: impl Fn(&mut Entry) + Send + Sync + Clone + 'static,
    ) -> Result<Entry> {
        let change = move |_: &mut Tx<'_>, entry: &mut Entry| {
            if !entry.stage.is_over() {
                work(entry);
            }
            Ok(())
        };
        let changed = paper::change::<Entry, ()>(self.fleet.app(), self.tenant, entry.id, change);
        Ok(changed.await?.0)
    }

    /// Goes on with what a killed server left behind.
    async fn recover(&self, open: &[Entry]) -> Result<()> {
        let mut arrived: Vec<(Merge, Vec<(Entry, Moving)>)> = Vec::new();
        let now = self.now();
        let due = |one: &&Entry| one.moving.is_none() || one.is_due(now);
        let left = open.iter().filter(|entry| entry.stage == Stage::Checking);
        for entry in left.filter(due) {
            let Some(moving) = entry.moving.clone() else {
                self.change(entry, |entry| entry.stage = Stage::Waiting).await?;
                continue;
            };
            let (commit, target) = (moving.merge.commit.clone(), moving.merge.target.clone());
            let there = self.fleet.at_bench(self.folder.clone(), move |bench| {
                bench.is_ancestor(&commit, &format!("refs/heads/{target}"))
            });
            if !there.await? {
                let back = |entry: &mut Entry| {
                    (entry.stage, entry.moving) = (Stage::Waiting, None);
                };
                self.change(entry, back).await?;
                continue;
            }
            let together = arrived.iter_mut().find(|(merge, _)| *merge == moving.merge);
            match together {
                Some((_, group)) => group.push((entry.clone(), moving)),
                None => arrived.push((moving.merge.clone(), vec![(entry.clone(), moving)])),
            }
        }
        for (merge, group) in arrived {
            let together: Vec<Entry> = group.iter().map(|(entry, _)| entry.clone()).collect();
            let arrived = async {
                let Some((first, _)) = group.first() else { return Ok(()) };
                whole::aimed(self, first).await?.arrived(group, &merge).await
            };
            if let Err(error) = arrived.await {
                // All of them: a part of those that landed together would be judged for the whole.
                for entry in &together {
                    self.silent(entry, &error).await?;
                }
            }
        }
        Ok(())
    }

    /// Finds who waits longest.
    fn first<'a>(&self, open: &'a [Entry]) -> Option<&'a Entry> {
        let now = self.now();
        open.iter().find(|one| one.stage == Stage::Waiting && one.is_due(now))
    }

    /// Chooses who is tried with the first: those who wait for the same branch, if that may be.
    fn group(&self, open: &[Entry], first: &Entry) -> Vec<Entry> {
        // Where nothing is judged, there is nothing to save.
        let unjudged = self.wanted.gates.is_empty() && self.wanted.landing.after.is_none();
        if self.wanted.landing.how != How::Merge
            || self.wanted.landing.pulls.is_some()
            || unjudged
            || first.alone
        {
            return vec![first.clone()];
        }
        let now = self.now();
        let ready = |one: &&Entry| one.stage == Stage::Waiting && one.is_due(now);
        let together = |one: &&Entry| ready(one) && !one.alone && one.onto == first.onto;
        let most = self.wanted.landing.batch as usize;
        open.iter().filter(together).take(most).cloned().collect()
    }

    /// Lands a group; one that fails together is divided until it is known who breaks it.
    async fn carry(&self, group: Vec<Entry>) {
        let mut groups = vec![group];
        while let Some(group) = groups.pop() {
            let ended = self.attempt(&group).await;
            let whole = match ended {
                Ok(whole) => whole,
                Err(_) if group.len() > 1 => false,
                Err(error) => {
                    if let Some(entry) = group.first()
                        && let Err(error) = self.silent(entry, &error).await
                    {
                        tracing::warn!(bead = %entry.bead, %error, "a landing could not be noted");
                    }
                    true
                }
            };
            if !whole {
                let second = group[group.len() / 2..].to_vec();
                let first = group[..group.len() / 2].to_vec();
                groups.extend([second, first]);
            }
        }
    }

    /// Tries a group; `false` if it must be divided.
    async fn attempt(&self, group: &[Entry]) -> Result<bool> {
        let mut fit = Vec::new();
        for entry in group {
            // It may be repaired or gone since the group was chosen.
            let id = entry.id;
            let find = move |tx: &mut Tx<'_>| paper::by_id::<Entry>(tx, id);
            let now = paper::look(self.fleet.app(), self.tenant, find).await?;
            let now = now.filter(|one| matches!(one.stage, Stage::Waiting | Stage::Checking));
            if let Some(entry) = now {
                fit.extend(self.fit(&entry).await?);
            }
        }
        let batch = (fit.len() > 1).then(|| self.fleet.app().mint.id::<EventId>().uuid());
        let now = self.now();
        for (entry, _) in &mut fit {
            let target = self.target.clone();
            let begun = move |entry: &mut Entry| {
                (entry.stage, entry.batch) = (Stage::Checking, batch);
                entry.began_at = entry.began_at.or(Some(now));
                (entry.why, entry.target) = (None, Some(target.clone()));
            };
            *entry = self.change(entry, begun).await?;
        }
        // Somebody may have taken it out, or allowed other work since.
        fit.retain(|(entry, load)| !entry.stage.is_over() && entry.source == load.source);
        self.fleet.own.moved.notify_waiters();
        for _ in 0..TRIES {
            if fit.is_empty() {
                return Ok(true);
            }
            let (stack, here) = self.lay(fit).await?;
            let Some(merge) = stack.merge else { return Ok(true) };
            let results = judge::judge(self, &merge).await?;
            if let Some(why) = judge::failure(&self.wanted, &results) {
                let [(entry, ..)] = &here[..] else { return Ok(false) };
                let entry = self.judged(entry, &results).await?;
                settle::trouble(self, &entry, Trouble::Gate, Hindrance::Gate(why)).await?;
                return Ok(true);
            }
            if self.upstream.is_some() {
                pulls::propose(self, &here, &results).await?;
                return Ok(true);
            }
            match self.moved(&here, &merge, &results).await? {
                Some(again) => fit = again,
                None => return Ok(true),
            }
        }
        for (entry, _) in &fit {
            self.wait(entry, "the branch moves all the time".to_owned()).await?;
        }
        Ok(true)
    }

    /// Looks whether an entry may still land, and makes ready what is to land of it.
    pub(super) async fn fit(&self, entry: &Entry) -> Result<Option<(Entry, Load)>> {
        let call = self.call(entry).await?;
        let found = beads::get(self.fleet.app(), &call, Some(self.project), &entry.bead).await?;
        let bead = found.value.0;
        let name: Name = bead.id.parse()?;
        let branch = name.branch();
        let head = self.fleet.at_bench(self.folder.clone(), move |bench| bench.head_of(&branch));
        let head = head.await?;
        let why = match (bead.status, head) {
            (BeadStatus::Done, None) => None,
            (BeadStatus::Review | BeadStatus::Done, Some(head)) if head == entry.source => None,
            (BeadStatus::Review | BeadStatus::Done, Some(_)) => {
                Some("its branch has other commits than those that were allowed to land".to_owned())
            }
            (BeadStatus::Review, None) => Some("its branch is gone".to_owned()),
            (status, _) => Some(format!("it is {status} and not in review")),
        };
        if let Some(why) = why {
            settle::changed(self, entry, why).await?;
            return Ok(None);
        }
        let message = Message {
            bead: name,
            title: format!("{} ({})", bead.title, bead.id),
            body: format!("Bead: {}", bead.id),
            author: author(),
        };
        // Work that landed with others and was taken back with them is laid anew.
        let again = entry.undone.clone().map(|(from, to)| Span { from, to });
        Ok(Some((entry.clone(), Load { message, source: entry.source.clone(), again })))
    }

    /// Lays a group on the branch; what conflicts, or is there already, is settled.
    async fn lay(&self, fit: Vec<(Entry, Load)>) -> Result<(Stack, Vec<(Entry, Load, Moving)>)> {
        let loads: Vec<Load> = fit.iter().map(|(_, load)| load.clone()).collect();
        let (target, how) = (self.target.clone(), self.wanted.landing.how);
        let base = self.upstream.clone();
        let stack = self.fleet.at_bench(self.folder.clone(), move |bench| {
            bench.landing().stack_on(&loads, (&target, base.as_deref()), how)
        });
        let stack = stack.await?;
        let mut here = Vec::new();
        for ((entry, load), placed) in fit.into_iter().zip(&stack.placed) {
            match placed {
                Placed::Here { from, to } => {
                    let Some(merge) = stack.merge.clone() else { continue };
                    here.push((entry, load, Moving { merge, from: from.clone(), to: to.clone() }));
                }
                Placed::AlreadyThere => settle::already(self, &entry, &stack.before).await?,
                Placed::Conflict { files, with_branch: true } => {
                    let why = Hindrance::Conflict(files.clone());
                    settle::trouble(self, &entry, Trouble::Conflict, why).await?;
                }
                // Once the others are in the branch, it is known whether it conflicts with that.
                Placed::Conflict { .. } => {
                    let back = |entry: &mut Entry| entry.stage = Stage::Waiting;
                    self.change(&entry, back).await?;
                }
            }
        }
        Ok((stack, here))
    }

    /// Moves the branch; returns those that are to be tried again because somebody else did.
    async fn moved(
        &self,
        here: &[(Entry, Load, Moving)],
        merge: &Merge,
        results: &[GateResult],
    ) -> Result<Option<Vec<(Entry, Load)>>> {
        let mut ready = Vec::new();
        for (entry, load, moving) in here {
            // Somebody may have thought otherwise while it was judged.
            if self.fit(entry).await?.is_none() {
                let rest = here.iter().filter(|one| one.0.id != entry.id);
                return Ok(Some(rest.map(|one| (one.0.clone(), one.1.clone())).collect()));
            }
            let entry = self.judged(entry, results).await?;
            let begun = moving.clone();
            let note = move |entry: &mut Entry| entry.moving = Some(begun.clone());
            let entry = self.change(&entry, note).await?;
            if entry.stage.is_over() {
                // Somebody took it out while it was judged; the others are tried without it.
                let rest = here.iter().filter(|one| one.0.id != entry.id);
                return Ok(Some(rest.map(|one| (one.0.clone(), one.1.clone())).collect()));
            }
            ready.push((entry, load.clone(), moving.clone()));
        }
        let last = merge.clone();
        let landed =
            self.fleet.at_bench(self.folder.clone(), move |bench| bench.landing().finish(&last));
        match landed.await? {
            Landed::Done => {
                let there = ready.into_iter().map(|(entry, _, moving)| (entry, moving)).collect();
                self.arrived(there, merge).await.map(|()| None)
            }
            Landed::Moved { .. } => {
                Ok(Some(ready.into_iter().map(|(entry, load, _)| (entry, load)).collect()))
            }
            Landed::Blocked { why } => {
                for (entry, ..) in &ready {
                    self.wait(entry, why.clone()).await?;
                }
                Ok(None)
            }
        }
    }

    /// Ends those that the branch has now, if what must pass afterwards does.
    async fn arrived(&self, there: Vec<(Entry, Moving)>, merge: &Merge) -> Result<()> {
        if let Some(failure) = after::check(self, merge).await? {
            return after::failed(self, &there, &failure).await;
        }
        for (entry, moving) in &there {
            settle::landed(self, entry, moving).await?;
        }
        Ok(())
    }

    pub(super) async fn judged(&self, entry: &Entry, results: &[GateResult]) -> Result<Entry> {
        let verdicts: Vec<Verdict> = results.iter().map(Verdict::of).collect();
        self.change(entry, move |entry| entry.verdicts.clone_from(&verdicts)).await
    }

    /// Lets an entry wait until what is in the way is gone.
    async fn wait(&self, entry: &Entry, why: String) -> Result<()> {
        let until = self.now() + IN_THE_WAY;
        let back = move |entry: &mut Entry| {
            (entry.stage, entry.moving) = (Stage::Waiting, None);
            (entry.why, entry.not_before) = (Some(why.clone()), Some(until));
        };
        self.change(entry, back).await.map(drop)
    }

    /// Tries an entry again later that gave no answer; after some times a person is told.
    async fn silent(&self, entry: &Entry, error: &Error) -> Result<()> {
        // A refusal is an answer; it will be the same the next time.
        let refused = error.code() == code::LANDING_REFUSED;
        let lasting = refused || !error.code().kind().retryable();
        let moving = self.change(entry, |_| ()).await?.moving.is_some();
        if (entry.tries + 1 >= SILENT_MAX || lasting) && !moving {
            let why = Hindrance::Blocked(error.to_string());
            return settle::trouble(self, entry, Trouble::Git, why).await;
        }
        let tries = entry.tries + 1;
        tracing::info!(bead = %entry.bead, tries, %error, "a landing is tried again");
        // Once may be chance, such as a lock that another git holds: whoever waits need not hear of it.
        let (why, seconds) =
            if tries > 1 { (Some(error.to_string()), 5 << tries.min(6)) } else { (None, 1) };
        let until = self.now() + SignedDuration::from_secs(seconds);
        let back = move |entry: &mut Entry| {
            // One whose branch may have moved stays what it is: what is left to do is found out again.
            if entry.moving.is_none() && entry.stage == Stage::Checking {
                entry.stage = Stage::Waiting;
            }
            entry.tries = tries;
            (entry.why, entry.not_before) = (why.clone(), Some(until));
        };
        self.change(entry, back).await.map(drop)
    }
}

/// By whom commits of landings are.
pub(super) fn author() -> Author {
    Author { name: "Godel".to_owned(), email: "godel@agents.godel.invalid".to_owned() }
}
