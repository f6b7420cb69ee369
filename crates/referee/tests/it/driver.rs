//! Clients, workers and faults around the queue, all from one seed, and the history they leave.

use std::collections::BTreeMap;

use godel_referee::{Answer, Ask, Backoff, Begin, Claim, Event, Lease, Op, Place, Recorder, What};

use crate::chance::Chance;
use crate::dump;
use crate::mutant::Mutant;
use crate::queue::{Disk, Queue, SECOND, name, number};

const LONGEST_PASS: i64 = 2 * SECOND;
const POOLS: [&str; 2] = ["build", "test"];
const TENANTS: [&str; 2] = ["red", "blue"];

/// An operation on its way.
struct Flight {
    op: Op,
    what: What,
    done: Option<Result<Answer, &'static str>>,
}

pub(crate) struct Driver {
    pub(crate) queue: Queue,
    pub(crate) recorder: Recorder,
    chance: Chance,
    flights: Vec<Flight>,
    /// What workers believe to hold.
    held: Vec<Lease>,
    /// Asks that may be repeated.
    unsure: Vec<What>,
    keys: BTreeMap<&'static str, Vec<String>>,
    tasks: Vec<String>,
    cursors: BTreeMap<(&'static str, &'static str), u64>,
    saved: Option<(Disk, u32)>,
    oks: u32,
    snapshots: bool,
}

/// Makes a history, and tells how often the mutant did wrong in it.
pub(crate) fn play(seed: u64, mutant: Option<Mutant>) -> (Vec<u8>, u32) {
    let mut driver = Driver::new(seed, mutant);
    let drains = mutant == Some(Mutant::LowerTierFirstInDrain) || driver.chance.one_in(2);
    for _ in 0..300 + driver.chance.below(500) {
        driver.step();
    }
    if drains {
        driver.drain();
    }
    dump::write(&mut driver);
    (driver.recorder.finish().unwrap(), driver.queue.teeth.bites)
}

impl Driver {
    fn new(seed: u64, mutant: Option<Mutant>) -> Self {
        let recorder = Recorder::in_memory().with_clock(|| 0);
        let slack = Some(LONGEST_PASS + SECOND);
        recorder.begin(Begin { slack, ..Begin::default() });
        Self {
            queue: Queue::new(seed, mutant),
            recorder,
            chance: Chance::new(!seed),
            flights: Vec::new(),
            held: Vec::new(),
            unsure: Vec::new(),
            keys: BTreeMap::new(),
            tasks: Vec::new(),
            cursors: BTreeMap::new(),
            saved: None,
            oks: 0,
            snapshots: mutant != Some(Mutant::LowerTierFirstInDrain),
        }
    }

    fn step(&mut self) {
        self.queue.now += self.chance.time(0, 300);
        match self.chance.below(40) {
            0..=10 => {
                let what = self.choose();
                self.ask(what);
            }
            11..=21 => self.commit(),
            22..=33 => self.answer(),
            34..=36 => self.pass(),
            37 => self.subscribe(),
            38 if self.chance.one_in(3) => self.cut(),
            38 => self.aside(),
            _ => self.saved = Some((self.queue.disk.clone(), self.oks)),
        }
    }

    fn ask(&mut self, what: What) {
        let client = ["ann", "bob", "eve"][self.chance.below(3)];
        let op = self.recorder.invoke(client, what.clone());
        self.flights.push(Flight { op, what, done: None });
    }

    /// What somebody may want now; workers do not know that they are zombies.
    fn choose(&mut self) -> What {
        let held = self.held.len();
        match self.chance.below(20) {
            0..=4 => What::Enqueue(self.new_ask()),
            5 if !self.unsure.is_empty() => {
                let at = self.chance.below(self.unsure.len());
                self.unsure.swap_remove(at)
            }
            6..=9 => {
                What::Claim { pool: POOLS[self.chance.below(2)].to_owned(), limit: self.limit() }
            }
            10 if !self.tasks.is_empty() => What::Cancel { task: self.awaited_task() },
            11 if !self.tasks.is_empty() => self.replay(),
            12..=18 if held > 0 => self.work(),
            _ => What::Heartbeat { node: "one".to_owned() },
        }
    }

    fn limit(&mut self) -> u32 {
        1 + u32::try_from(self.chance.below(3)).unwrap()
    }

    /// What a worker says of something that it believes to hold.
    fn work(&mut self) -> What {
        let at = self.chance.below(self.held.len());
        let lease = match self.chance.one_in(2) {
            true => self.held[at].clone(),
            false => self.held.swap_remove(at),
        };
        let Lease { task, attempt } = lease.clone();
        match self.chance.below(8) {
            0..=3 => What::Complete(lease),
            4..=5 => What::Fail { task, attempt, error: "boom".to_owned() },
            6 if self.chance.one_in(2) => What::Progress(lease),
            6 => What::Release(lease),
            _ => What::Spawn { child: self.new_child(&task), task, attempt },
        }
    }

    fn replay(&mut self) -> What {
        let other = self.chance.one_in(4);
        let dead = |task: &&String| match self.queue.disk.tasks[number(task)].place {
            Place::Dead => true,
            Place::Delayed | Place::Cancelled => other,
            _ => false,
        };
        let dead: Vec<&String> = self.tasks.iter().filter(dead).collect();
        let task = match dead.is_empty() {
            true => self.any_task(),
            false => dead[self.chance.below(dead.len())].clone(),
        };
        What::Replay { task: Some(task) }
    }

    fn any_task(&mut self) -> String {
        self.tasks[self.chance.below(self.tasks.len())].clone()
    }

    /// One that others wait for, if there is any.
    fn awaited_task(&mut self) -> String {
        let rows = &self.queue.disk.tasks;
        let blocked = rows.iter().filter(|row| row.place == Place::Blocked);
        let parents = blocked.flat_map(|row| row.parents.iter().map(|parent| name(*parent)));
        let known: Vec<String> = parents.filter(|parent| self.tasks.contains(parent)).collect();
        match known.is_empty() {
            true => self.any_task(),
            false => known[self.chance.below(known.len())].clone(),
        }
    }

    fn new_ask(&mut self) -> Ask {
        let tenant = TENANTS[self.chance.below(2)];
        let known = self.keys.entry(tenant).or_default();
        let key = format!("k{}", known.len());
        let mut parents = Vec::new();
        if !known.is_empty() && self.chance.one_in(2) {
            for _ in 0..1 + self.chance.below(2) {
                // Young ones, which have not ended yet.
                let back = 1 + self.chance.below(known.len().min(4));
                parents.push(known[known.len() - back].clone());
            }
            parents.sort();
            parents.dedup();
        }
        known.push(key.clone());
        let time = self.chance.one_in(5).then(|| self.chance.time(1, 4 * SECOND));
        let absolute = self.chance.one_in(2);
        Ask {
            key,
            tenant: tenant.to_owned(),
            pool: POOLS[self.chance.below(2)].to_owned(),
            tier: u8::try_from(self.chance.below(4)).unwrap(),
            parents,
            max_attempts: 1 + u32::try_from(self.chance.below(3)).unwrap(),
            delay: time.filter(|_| !absolute),
            start_at: time.filter(|_| absolute).map(|time| self.queue.now + time),
            backoff: Some(Backoff { first: SECOND, most: 5 * SECOND, random: 0.5 }),
        }
    }

    fn new_child(&mut self, holder: &str) -> Ask {
        let tenant = &self.queue.disk.tasks[number(holder)].ask.tenant;
        let tenant = TENANTS.into_iter().find(|known| known == tenant).unwrap();
        let ask = self.new_ask();
        // The key of another tenant stays unused.
        let known = self.keys.entry(tenant).or_default();
        known.push(format!("c{}", known.len()));
        let key = known.last().unwrap().clone();
        Ask { tenant: tenant.to_owned(), key, parents: Vec::new(), ..ask }
    }

    /// The server does something that was asked for.
    fn commit(&mut self) {
        let open: Vec<usize> =
            (0..self.flights.len()).filter(|at| self.flights[*at].done.is_none()).collect();
        if open.is_empty() {
            return;
        }
        let at = open[self.chance.below(open.len())];
        let what = self.flights[at].what.clone();
        self.flights[at].done = Some(self.carry_out(&what));
    }

    fn carry_out(&mut self, what: &What) -> Result<Answer, &'static str> {
        let queue = &mut self.queue;
        let at = |at: i64| Answer::default().at(at);
        match what {
            What::Enqueue(ask) => queue.enqueue(ask).map(|task| Answer::task(name(task))),
            What::Spawn { task, attempt, child } => {
                queue.spawn(number(task), *attempt, child).map(|task| Answer::task(name(task)))
            }
            What::Claim { pool, limit } => {
                let (claims, before) = queue.claim(pool, *limit as usize);
                let ready_before = self.snapshots.then_some(before);
                let ready_before = ready_before.filter(|rows| !rows.is_empty());
                Ok(Answer { claims, ready_before, ..Answer::default() })
            }
            What::Complete(lease) => queue.complete(number(&lease.task), lease.attempt).map(at),
            What::Fail { task, attempt, .. } => {
                let failed = queue.fail(number(task), *attempt);
                failed.map(|(at, delay)| Answer { delay, ..Answer::default().at(at) })
            }
            What::Progress(lease) => queue.progress(number(&lease.task), lease.attempt).map(at),
            What::Release(lease) => queue.release(number(&lease.task), lease.attempt).map(at),
            What::Cancel { task } => {
                let cancelled = queue.cancel(number(task));
                cancelled.map(|stopping| Answer { stopping, ..Answer::default().at(queue.now) })
            }
            What::Replay { task } => queue.replay(number(task.as_ref().unwrap())).map(at),
            What::Heartbeat { .. } => Ok(Answer::default()),
        }
    }

    /// A client hears of something, or does not.
    fn answer(&mut self) {
        if self.flights.is_empty() {
            return;
        }
        let done = self.flights.iter().position(|flight| flight.done.is_some());
        let at = match done {
            Some(done) if !self.chance.one_in(4) => done,
            _ => self.chance.below(self.flights.len()),
        };
        match self.flights[at].done {
            Some(_) if !self.chance.one_in(8) => {
                let flight = self.flights.swap_remove(at);
                self.hear(flight);
            }
            None if !self.chance.one_in(6) => {}
            _ => {
                let flight = self.flights.swap_remove(at);
                self.lose(flight, false);
            }
        }
    }

    fn hear(&mut self, flight: Flight) {
        match flight.done.unwrap() {
            Ok(answer) => {
                // What may be lost at a cut; progress and an empty claim cannot.
                let empty = matches!(flight.what, What::Progress(_)) || answer == Answer::default();
                self.oks += u32::from(!empty);
                self.tasks.extend(answer.task.clone());
                let lease =
                    |claim: &Claim| Lease { task: claim.task.clone(), attempt: claim.attempt };
                self.held.extend(answer.claims.iter().map(lease));
                flight.op.ok(answer);
            }
            Err(error) => flight.op.fail(error),
        }
    }

    /// The answer is lost; what was not done may be done later, unless the server is gone.
    fn lose(&mut self, flight: Flight, gone: bool) {
        let Flight { op, what, done } = flight;
        if matches!(what, What::Enqueue(_) | What::Spawn { .. }) {
            self.unsure.push(what.clone());
        }
        // A client that is killed says nothing at all.
        if !self.chance.one_in(4) {
            op.unknown();
        }
        if done.is_none() && !gone && self.chance.one_in(2) {
            let _ = self.carry_out(&what);
        }
    }

    fn pass(&mut self) {
        let longest = if self.chance.one_in(2) { LONGEST_PASS } else { LONGEST_PASS / 10 };
        let time = self.chance.time(0, longest);
        self.queue.pass(time);
        if self.chance.one_in(8) && self.queue.teeth.bite(Mutant::Ghost) {
            let ask = self.new_ask();
            let _ = self.queue.enqueue(&Ask { parents: Vec::new(), ..ask });
        }
        for (task, attempt, at) in std::mem::take(&mut self.queue.expired) {
            // The server tells it to whoever listens, which may be nobody.
            if self.chance.one_in(2) {
                self.oks += 1;
                self.recorder.expire(&task, attempt, at);
            }
        }
    }

    fn subscribe(&mut self) {
        for tenant in TENANTS {
            for (by, only) in [("all", None), ("starts", Some("task:started"))] {
                let cursor = self.cursors.entry((tenant, by)).or_default();
                let log = self.queue.disk.logs.get(tenant);
                let new = log.into_iter().flatten().filter(|event| event.seq > *cursor);
                let new = new.filter(|event| event.kind.starts_with(only.unwrap_or_default()));
                let mut seqs: Vec<u64> = new.map(|event| event.seq).collect();
                let Some(last) = seqs.last() else { continue };
                *cursor = *last;
                if seqs.len() > 2 && self.queue.teeth.bite(Mutant::SubscriberSkips) {
                    seqs.remove(1);
                }
                if seqs.len() > 1 && self.queue.teeth.bite(Mutant::Sequence) {
                    // A number that was taken first and committed last.
                    let late = seqs.remove(0);
                    seqs.push(late);
                }
                self.recorder.seen(by, tenant, &seqs, only);
            }
        }
    }

    /// The server is killed: what was not done never will be, and nobody gets an answer.
    fn cut(&mut self) {
        self.recorder.cut();
        if let Some((disk, oks)) = self.saved.take().filter(|(_, oks)| *oks < self.oks)
            && self.queue.teeth.is(Mutant::LostAtCut)
        {
            self.queue.teeth.bites += self.oks - oks;
            self.queue.restore(disk);
        }
        for flight in std::mem::take(&mut self.flights) {
            self.lose(flight, true);
        }
    }

    /// The tenant's log is not for tasks alone.
    fn aside(&mut self) {
        self.queue.log(Event {
            tenant: TENANTS[self.chance.below(2)].to_owned(),
            seq: 0,
            kind: "project:renamed".to_owned(),
            at: self.queue.now,
            task: None,
            attempt: None,
            tier: None,
            pool: None,
            delay_us: None,
        });
    }

    /// No faults any more: workers take all that is there until nothing is left.
    fn drain(&mut self) {
        while !self.flights.is_empty() {
            let flight = self.flights.swap_remove(0);
            match flight.done {
                Some(_) => self.hear(flight),
                None => self.lose(flight, true),
            }
        }
        for _ in 0..10 {
            let ask = Ask { parents: Vec::new(), delay: None, start_at: None, ..self.new_ask() };
            self.do_now(What::Enqueue(ask));
        }
        self.recorder.quiesced(None);
        self.queue.quiet = true;
        self.held.clear();
        for _ in 0..400 {
            if self.queue.disk.tasks.iter().all(|task| task.place.is_terminal()) {
                self.recorder.drained();
                return;
            }
            let pool = POOLS[self.chance.below(2)].to_owned();
            let claim = What::Claim { pool, limit: self.limit() };
            self.do_now(claim);
            for Lease { task, attempt } in std::mem::take(&mut self.held) {
                let what = match self.chance.one_in(4) {
                    true => What::Fail { task, attempt, error: String::new() },
                    false => What::Complete(Lease { task, attempt }),
                };
                self.do_now(what);
            }
            if self.chance.one_in(3) {
                self.pass();
            }
        }
    }

    fn do_now(&mut self, what: What) {
        self.queue.now += 1;
        let op = self.recorder.invoke("worker", what.clone());
        let done = Some(self.carry_out(&what));
        self.hear(Flight { op, what, done });
    }
}
