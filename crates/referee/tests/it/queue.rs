//! A queue that is right, small enough to be seen to be right; and, given a mutant, wrong in one way.

use std::collections::{BTreeMap, HashMap};

use godel_referee::{Ask, Claim, Event, Place};

use crate::chance::Chance;
use crate::mutant::{Mutant, Teeth};

pub(crate) const SECOND: i64 = 1_000_000;
const LEASE: i64 = 2 * SECOND;

#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) ask: Ask,
    pub(crate) parents: Vec<usize>,
    pub(crate) place: Place,
    pub(crate) attempt: u32,
    pub(crate) epoch: u32,
    /// How many attempts do not count.
    uncounted: u32,
    /// Whether its worker was asked to stop.
    stop: bool,
    /// Whose end was the reason for its own.
    because: Option<usize>,
    /// Since when it is ready, or when it is due, or when its lease expires.
    time: i64,
    due: Option<i64>,
}

/// Everything that is on disk.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    pub(crate) tasks: Vec<Task>,
    pub(crate) logs: BTreeMap<String, Vec<Event>>,
    keys: HashMap<(String, String), usize>,
}

pub(crate) struct Queue {
    pub(crate) now: i64,
    pub(crate) disk: Disk,
    pub(crate) teeth: Teeth,
    pub(crate) chance: Chance,
    /// Whether nothing is added any more.
    pub(crate) quiet: bool,
    /// Leases that expired since somebody asked.
    pub(crate) expired: Vec<(String, u32, i64)>,
}

pub(crate) type Answer<T> = Result<T, &'static str>;

pub(crate) fn name(task: usize) -> String {
    format!("t{task}")
}

pub(crate) fn number(task: &str) -> usize {
    task[1..].parse().unwrap()
}

impl Queue {
    pub(crate) fn new(seed: u64, mutant: Option<Mutant>) -> Self {
        Self {
            now: 1_000 * SECOND,
            disk: Disk::default(),
            teeth: Teeth { mutant, bites: 0 },
            chance: Chance::new(seed),
            quiet: false,
            expired: Vec::new(),
        }
    }

    pub(crate) fn enqueue(&mut self, ask: &Ask) -> Answer<usize> {
        let key = (ask.tenant.clone(), ask.key.clone());
        if let Some(known) = self.disk.keys.get(&key) {
            let known = *known;
            if !self.teeth.bite(Mutant::DuplicateUnknown) {
                return Ok(known);
            }
        }
        let parent =
            |parent: &String| self.disk.keys.get(&(ask.tenant.clone(), parent.clone())).copied();
        let parents: Option<Vec<usize>> = ask.parents.iter().map(parent).collect();
        let mut parents = parents.ok_or("no such parent")?;
        let ends = |parent: &usize| {
            matches!(self.disk.tasks[*parent].place, Place::Dead | Place::Cancelled)
        };
        if parents.iter().any(ends) {
            return Err("a parent has ended");
        }
        if !parents.is_empty() && self.chance.one_in(3) && self.teeth.bite(Mutant::LostEdge) {
            parents.pop();
        }
        let task = self.disk.tasks.len();
        self.disk.keys.insert(key, task);
        self.disk.tasks.push(Task {
            ask: ask.clone(),
            parents,
            place: Place::Blocked,
            attempt: 0,
            epoch: 0,
            uncounted: 0,
            stop: false,
            because: None,
            time: self.now,
            due: ask.start_at.or(ask.delay.map(|delay| self.now + delay)),
        });
        if self.chance.one_in(4) && self.teeth.bite(Mutant::DropEnqueue) {
            self.disk.tasks.pop();
            self.disk.keys.retain(|_, known| *known != task);
            // Its number is not used again.
            self.disk.tasks.push(self.gone(ask));
            return Ok(task);
        }
        self.tell(task, "queued", None);
        self.place(task);
        Ok(task)
    }

    /// Goes back to what was on disk, without using a number again.
    pub(crate) fn restore(&mut self, disk: Disk) {
        let lost = self.disk.tasks.split_off(disk.tasks.len());
        self.disk = disk;
        let gone: Vec<Task> = lost.iter().map(|task| self.gone(&task.ask)).collect();
        self.disk.tasks.extend(gone);
    }

    /// A task that nobody will ever see.
    fn gone(&self, ask: &Ask) -> Task {
        let ask = Ask { pool: "gone".to_owned(), ..ask.clone() };
        Task {
            ask,
            parents: Vec::new(),
            place: Place::Cancelled,
            attempt: 0,
            epoch: 0,
            uncounted: 0,
            stop: false,
            because: None,
            time: self.now,
            due: None,
        }
    }

    pub(crate) fn is_gone(&self, task: usize) -> bool {
        self.disk.tasks[task].ask.pool == "gone"
    }

    pub(crate) fn spawn(&mut self, holder: usize, attempt: u32, ask: &Ask) -> Answer<usize> {
        let stale = !self.holds(holder, attempt);
        if stale && !self.teeth.bite(Mutant::UnfencedSpawn) {
            return Err("lease lost");
        }
        self.enqueue(ask)
    }

    /// Hands out what is first, and tells what was there.
    pub(crate) fn claim(
        &mut self,
        pool: &str,
        limit: usize,
    ) -> (Vec<Claim>, Vec<(u8, i64, String)>) {
        let mut rows: Vec<(u8, i64, usize)> = self
            .of(pool, Place::Ready)
            .map(|task| (self.disk.tasks[task].ask.tier, self.disk.tasks[task].time, task))
            .collect();
        rows.sort_unstable();
        let before = rows.iter().map(|(tier, time, task)| (*tier, *time, name(*task))).collect();
        self.shuffle(&mut rows, limit);
        let mut taken: Vec<usize> = rows.iter().take(limit).map(|row| row.2).collect();
        if self.teeth.is(Mutant::TwoLeases) && self.chance.one_in(4) {
            let leased = self.of(pool, Place::Leased).next();
            taken.extend(leased.filter(|_| self.teeth.bite(Mutant::TwoLeases)));
        }
        (taken.into_iter().map(|task| self.start(task)).collect(), before)
    }

    /// The mutants that take the wrong ones.
    fn shuffle(&mut self, rows: &mut [(u8, i64, usize)], limit: usize) {
        let Some((first, last)) = rows.first().copied().zip(rows.last().copied()) else { return };
        let (tiers, enough) = (first.0 != last.0, rows.len() > limit);
        let upside_down =
            self.teeth.is(Mutant::LowerTierFirst) || self.teeth.is(Mutant::LowerTierFirstInDrain);
        if tiers && enough && upside_down {
            rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.0));
            self.teeth.bites += 1;
        }
        let tenant = |row: &(u8, i64, usize)| &self.disk.tasks[row.2].ask.tenant;
        let peer = |row: &(u8, i64, usize)| row.0 == first.0 && tenant(row) == tenant(&first);
        if rows.iter().filter(|row| peer(row)).count() > limit && self.teeth.is(Mutant::NewestFirst)
        {
            rows.sort_by_key(|row| (!peer(row), row.0, -row.1, std::cmp::Reverse(row.2)));
            self.teeth.bites += 1;
        }
    }

    fn start(&mut self, task: usize) -> Claim {
        let reuse = self.disk.tasks[task].attempt > 0 && self.teeth.bite(Mutant::ReuseAttempt);
        let skip = self.chance.one_in(4) && self.teeth.bite(Mutant::SkipAttempt);
        let row = &mut self.disk.tasks[task];
        row.attempt = row.attempt + 1 + u32::from(skip) - u32::from(reuse);
        if row.attempt.saturating_sub(row.uncounted) > row.ask.max_attempts {
            self.teeth.bite(Mutant::BeyondMax);
        }
        let row = &mut self.disk.tasks[task];
        (row.place, row.time, row.due) = (Place::Leased, self.now + LEASE, None);
        row.stop = false;
        let (attempt, at) = (row.attempt, Some(self.now));
        self.tell(task, "started", None);
        Claim { task: name(task), attempt, at, tier: None }
    }

    pub(crate) fn complete(&mut self, task: usize, attempt: u32) -> Answer<i64> {
        self.fence(task, attempt)?;
        if self.chance.one_in(4) && self.teeth.bite(Mutant::AckLost) {
            return Ok(self.now);
        }
        self.disk.tasks[task].place = Place::Done;
        self.tell_of(task, "succeeded", attempt, None);
        for child in self.children(task) {
            if self.disk.tasks[child].place == Place::Blocked {
                let ready = !self.disk.tasks[child].parents.iter().any(|p| !self.is_done(*p));
                if !(ready && self.teeth.bite(Mutant::NeverPromoted)) {
                    self.unblock(child);
                }
            }
        }
        Ok(self.now)
    }

    pub(crate) fn fail(&mut self, task: usize, attempt: u32) -> Answer<(i64, Option<i64>)> {
        self.fence(task, attempt)?;
        let row = &self.disk.tasks[task];
        if row.stop {
            self.end(task, Place::Cancelled);
            return Ok((self.now, None));
        }
        let failures = row.attempt.saturating_sub(row.uncounted);
        if failures >= row.ask.max_attempts && !self.teeth.is(Mutant::BeyondMax) {
            self.end(task, Place::Dead);
            return Ok((self.now, None));
        }
        let most = row.ask.backoff.map_or(0, |backoff| {
            backoff.most.min(backoff.first << failures.saturating_sub(1).min(20))
        });
        let mut delay = self.chance.time(most / 2, most);
        if delay > 0 && self.teeth.bite(Mutant::ShortBackoff) {
            delay /= 4;
        }
        self.tell_of(task, "failed", attempt, Some(delay));
        self.wait(task, delay);
        Ok((self.now, Some(delay)))
    }

    pub(crate) fn progress(&mut self, task: usize, attempt: u32) -> Answer<i64> {
        self.fence(task, attempt)?;
        self.tell_of(task, "progress", attempt, None);
        Ok(self.now)
    }

    pub(crate) fn release(&mut self, task: usize, attempt: u32) -> Answer<i64> {
        self.fence(task, attempt)?;
        if self.disk.tasks[task].stop {
            self.end(task, Place::Cancelled);
        } else {
            self.disk.tasks[task].uncounted += 1;
            self.tell_of(task, "released", attempt, Some(0));
            self.ready(task);
        }
        Ok(self.now)
    }

    /// Cancels a task, or has its worker stop; tells whether it only stops.
    pub(crate) fn cancel(&mut self, task: usize) -> Answer<bool> {
        let row = &mut self.disk.tasks[task];
        match row.place {
            Place::Done | Place::Dead | Place::Cancelled => return Err("it has ended"),
            Place::Leased => {
                row.stop = true;
                self.tell(task, "stopping", None);
                return Ok(true);
            }
            Place::Ready | Place::Delayed | Place::Blocked => self.end(task, Place::Cancelled),
        }
        Ok(false)
    }

    pub(crate) fn replay(&mut self, task: usize) -> Answer<i64> {
        match self.disk.tasks[task].place {
            Place::Delayed => {
                self.ready(task);
                self.tell(task, "ready", None);
            }
            Place::Dead | Place::Cancelled if !self.is_gone(task) => self.revive(task),
            _ => return Err("it cannot be replayed"),
        }
        Ok(self.now)
    }

    /// Lets a task begin anew, with all that ended because of it.
    fn revive(&mut self, task: usize) {
        let row = &mut self.disk.tasks[task];
        row.epoch += 1;
        (row.uncounted, row.due, row.because) = (row.attempt, row.ask.start_at, None);
        row.place = Place::Blocked;
        self.tell(task, "replayed", None);
        self.place(task);
        for child in self.children(task) {
            let row = &self.disk.tasks[child];
            if row.place == Place::Cancelled && row.because == Some(task) {
                self.revive(child);
            }
        }
    }

    /// Lets time pass: leases expire, and what is due is promoted.
    pub(crate) fn pass(&mut self, time: i64) {
        self.now += time;
        for task in 0..self.disk.tasks.len() {
            let row = &self.disk.tasks[task];
            match row.place {
                Place::Leased if row.time <= self.now => self.expire(task),
                Place::Delayed => self.promote(task),
                Place::Done if self.chance.one_in(10) && self.teeth.bite(Mutant::Revived) => {
                    self.start(task);
                }
                Place::Dead if self.teeth.is(Mutant::UnaskedReplay) => {
                    self.teeth.bites += u32::from(self.replay(task).is_ok());
                }
                _ => {}
            }
        }
    }

    fn promote(&mut self, task: usize) {
        let row = &self.disk.tasks[task];
        let (due, retry) = (row.time, row.attempt > 0);
        let early = retry && due > self.now && self.teeth.bite(Mutant::EarlyRetry);
        let late = self.now < due + 5 * SECOND;
        if due <= self.now && late && self.teeth.bite(Mutant::LateRetry) {
            return;
        }
        if due <= self.now || early {
            self.ready(task);
            self.tell(task, "ready", None);
        }
    }

    fn expire(&mut self, task: usize) {
        let row = &self.disk.tasks[task];
        let (attempt, stop) = (row.attempt, row.stop);
        let spent = row.attempt.saturating_sub(row.uncounted) >= row.ask.max_attempts;
        if self.chance.one_in(2) && self.teeth.bite(Mutant::GhostDone) {
            self.disk.tasks[task].place = Place::Done;
            self.tell(task, "succeeded", None);
            return;
        }
        self.expired.push((name(task), attempt, self.now));
        if stop {
            return self.end(task, Place::Cancelled);
        }
        self.tell(task, "lost", None);
        if spent && !self.teeth.is(Mutant::BeyondMax) {
            self.end(task, Place::Dead);
        } else {
            self.ready(task);
        }
    }

    fn ready(&mut self, task: usize) {
        let row = &mut self.disk.tasks[task];
        (row.place, row.time) = (Place::Ready, self.now);
    }

    fn wait(&mut self, task: usize, delay: i64) {
        if delay == 0 {
            return self.ready(task);
        }
        let row = &mut self.disk.tasks[task];
        (row.place, row.time) = (Place::Delayed, self.now + delay);
    }

    /// Puts a task where it belongs at its beginning.
    fn place(&mut self, task: usize) {
        let row = &self.disk.tasks[task];
        let waits = row.parents.iter().any(|parent| !self.is_done(*parent));
        if waits && !self.teeth.bite(Mutant::ChildBeforeParent) {
            return;
        }
        let delay = self.disk.tasks[task].due.map_or(0, |due| (due - self.now).max(0));
        self.wait(task, delay);
    }

    /// Moves a child on if it waits for nobody any more.
    fn unblock(&mut self, task: usize) {
        self.place(task);
        if self.disk.tasks[task].place == Place::Delayed {
            self.tell(task, "delayed", None);
        }
        if self.disk.tasks[task].place == Place::Ready {
            self.tell(task, "ready", None);
            if self.teeth.bite(Mutant::PromotedTwice) {
                self.tell(task, "ready", None);
            }
        }
    }

    /// Ends a task badly, and all that wait for it.
    fn end(&mut self, task: usize, place: Place) {
        self.disk.tasks[task].place = place;
        let cancelled = place == Place::Cancelled;
        if !(cancelled && self.teeth.bite(Mutant::SilentCancel)) {
            self.tell(task, if cancelled { "cancelled" } else { "dead" }, None);
        }
        for child in self.children(task) {
            let mutant = match cancelled {
                true => Mutant::CancelMissesDescendants,
                false => Mutant::FailureMissesDescendants,
            };
            let lives = !self.disk.tasks[child].place.is_terminal();
            if lives && !self.teeth.bite(mutant) {
                self.end(child, Place::Cancelled);
                self.disk.tasks[child].because = Some(task);
            }
        }
    }

    fn fence(&mut self, task: usize, attempt: u32) -> Answer<()> {
        let leased = self.disk.tasks[task].place == Place::Leased;
        if self.holds(task, attempt) || (leased && self.teeth.bite(Mutant::SkipFence)) {
            return Ok(());
        }
        Err("lease lost")
    }

    fn holds(&self, task: usize, attempt: u32) -> bool {
        let row = &self.disk.tasks[task];
        row.place == Place::Leased && row.attempt == attempt
    }

    fn is_done(&self, task: usize) -> bool {
        self.disk.tasks[task].place == Place::Done
    }

    fn children(&self, task: usize) -> Vec<usize> {
        let is_child = |child: &usize| self.disk.tasks[*child].parents.contains(&task);
        (0..self.disk.tasks.len()).filter(is_child).collect()
    }

    fn of(&self, pool: &str, place: Place) -> impl Iterator<Item = usize> {
        let rows = self.disk.tasks.iter().enumerate();
        rows.filter(move |(_, row)| row.place == place && row.ask.pool == pool).map(|row| row.0)
    }

    fn tell(&mut self, task: usize, what: &str, delay_us: Option<i64>) {
        self.tell_of(task, what, self.disk.tasks[task].attempt, delay_us);
    }

    fn tell_of(&mut self, task: usize, what: &str, attempt: u32, delay_us: Option<i64>) {
        let Ask { tenant, tier, pool, .. } = &self.disk.tasks[task].ask;
        let event = Event {
            tenant: tenant.clone(),
            seq: 0,
            kind: format!("task:{what}"),
            at: self.now,
            task: Some(name(task)),
            attempt: Some(attempt),
            tier: Some(*tier),
            pool: Some(pool.clone()),
            delay_us,
        };
        self.log(event);
    }

    /// Writes an event of any kind.
    pub(crate) fn log(&mut self, mut event: Event) {
        let log = self.disk.logs.entry(event.tenant.clone()).or_default();
        event.seq = log.last().map_or(0, |last| last.seq) + 1;
        let (twin, own) = (event.clone(), self.chance.one_in(12));
        if own && self.teeth.bite(Mutant::EventGap) {
            event.seq += 1;
        }
        log.push(event);
        if own && self.teeth.bite(Mutant::EventTwice) {
            log.push(twin);
        }
    }
}
