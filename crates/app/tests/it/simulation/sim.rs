//! One life of a queue, as a seed has it: what is done next is left to chance, all of it is recorded.

use std::collections::BTreeSet;

use godel_app::queue::pools::{self, PoolChange};
use godel_model::{Capability, NewTask, PoolName, TaskId, WorkerId};
use godel_referee::{Ask, Begin, Recorder, Verdict, check};
use godel_store::{Direction, Error as StoreError, Scope};
use jiff::SignedDuration;

use super::broken::Broken;
use super::dice::Dice;
use super::stage::{Stage, begin};
use super::{Counts, dump};

pub(super) const POOLS: [&str; 2] = ["a", "b"];
pub(super) const ABLE: [&str; 2] = ["gpu", "rust"];

/// A task that somebody asked for.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) new: NewTask,
    pub(super) ask: Ask,
    pub(super) id: Option<TaskId>,
}

/// A worker, and what it believes to have.
#[derive(Clone)]
pub(super) struct Hand {
    pub(super) id: WorkerId,
    pub(super) name: String,
    pub(super) pool: PoolName,
    pub(super) able: BTreeSet<Capability>,
    pub(super) held: Vec<(TaskId, u32)>,
}

/// Which kinds of trouble a seed has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weather {
    pub(super) jumps: bool,
    pub(super) ageing: bool,
    pub(super) replays_many: bool,
    pub(super) drains: bool,
}

/// One life of a queue.
pub(super) struct Sim {
    pub(super) dice: Dice,
    pub(super) stage: Stage,
    pub(super) recorder: Recorder,
    pub(super) weather: Weather,
    pub(super) asked: Vec<Asked>,
    pub(super) hands: Vec<Hand>,
    /// What workers said once, or had and lost.
    pub(super) old: Vec<(WorkerId, TaskId, u32)>,
    pub(super) paused: BTreeSet<&'static str>,
    pub(super) broken: Option<Broken>,
    pub(super) counts: Counts,
    seen: i64,
    names: u32,
}

/// Lives through one seed and lets the referee judge; also tells how often what happened, and the
/// history.
pub(super) async fn live(seed: u64, broken: Option<Broken>, stage: Stage) -> (Life, Stage) {
    let mut dice = Dice::of(seed);
    let weather = Weather {
        jumps: dice.percent(30),
        ageing: dice.percent(25),
        replays_many: dice.percent(25),
        drains: dice.percent(60),
    };
    let clock = std::sync::Arc::clone(&stage.clock);
    let now = move || godel_model::micros(godel_model::Clock::now(&*clock));
    let recorder = Recorder::in_memory().with_clock(now);
    // A clock that is set back makes times of the log go back; where none is, nothing is forgiven.
    let hours = if weather.jumps { 100 } else { 0 };
    recorder.begin(Begin { skew: hours * 3_600_000_000, ..Begin::default() });
    let mut sim = Sim {
        dice,
        stage,
        recorder,
        weather,
        asked: Vec::new(),
        hands: Vec::new(),
        old: Vec::new(),
        paused: BTreeSet::new(),
        broken,
        counts: Counts::default(),
        seen: 0,
        names: 0,
    };
    sim.run().await;
    let history = sim.recorder.finish().unwrap();
    let verdict = check(&history[..]).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    (Life { verdict, counts: sim.counts, history }, sim.stage)
}

/// What became of a seed.
pub(super) struct Life {
    pub(super) verdict: Verdict,
    pub(super) counts: Counts,
    pub(super) history: Vec<u8>,
}

impl Sim {
    async fn run(&mut self) {
        if self.weather.ageing {
            let change = PoolChange { ageing_seconds: Some(Some(10)), ..Default::default() };
            let (app, call) = (&self.stage.app, &self.stage.call);
            pools::change(app, call, "a".parse().unwrap(), change).await.unwrap();
        }
        for _ in 0..2 {
            self.register().await;
        }
        let steps = self.dice.between(15, 35);
        for _ in 0..steps {
            self.stage.tick(SignedDuration::from_millis(1));
            Box::pin(self.step()).await;
        }
        if self.weather.drains {
            Box::pin(self.drain()).await;
        }
        self.subscribe().await;
        let depth = pools::depth(&self.stage.app, &self.stage.call).await.unwrap();
        self.stage.settle().await;
        if let Some(broken) = self.broken {
            broken.at_end(&self.stage.tables);
        }
        dump::write(&self.stage.tables, &self.recorder, &depth);
    }

    async fn step(&mut self) {
        match self.dice.below(110) {
            0..24 => self.enqueue().await,
            24..44 => self.claim().await,
            44..64 => self.report().await,
            64..71 => self.repeat().await,
            71..76 => self.spawn().await,
            76..79 => self.cancel().await,
            79..83 => self.replay().await,
            83..85 => self.assign().await,
            85..88 => self.beat().await,
            88..90 => self.register().await,
            90..91 => self.leave().await,
            91..93 => self.pause().await,
            93..94 => self.restart().await,
            94..97 => self.subscribe().await,
            97..98 => self.jump().await,
            98..106 => self.pass_a_little().await,
            _ => self.fall_silent().await,
        }
    }

    pub(super) fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{of}{}", self.names)
    }

    /// Does something, or is gone before the answer comes: then nobody knows.
    pub(super) async fn through<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        match self.dice.below(100) {
            0..2 => {
                let yields = self.dice.below(4);
                let done = begin(work, yields).await;
                self.stage.settle().await;
                self.counts.gone += u64::from(done.is_none());
                done
            }
            2..3 => {
                let yields = self.dice.below(4);
                let done = begin(work, yields).await;
                self.restart().await;
                self.counts.gone += u64::from(done.is_none());
                done
            }
            _ => Some(work.await),
        }
    }

    async fn pass(&mut self, time: SignedDuration) {
        self.stage.tick(time);
        if let Some(broken) = self.broken {
            broken.before_look(&self.stage.tables);
        }
        self.stage.look().await;
    }

    async fn pass_a_little(&mut self) {
        let millis = self.dice.between(0, 4_000);
        self.pass(SignedDuration::from_millis(millis)).await;
    }

    /// Lets so much time pass that whoever says nothing is gone.
    async fn fall_silent(&mut self) {
        for _ in 0..self.dice.between(1, 3) {
            for number in 0..self.hands.len() {
                if self.dice.percent(60) {
                    self.beat_of(number).await;
                }
            }
            let seconds = self.dice.between(8, 25);
            self.pass(SignedDuration::from_secs(seconds)).await;
        }
    }

    async fn jump(&mut self) {
        if !self.weather.jumps {
            return self.pass_a_little().await;
        }
        self.counts.jumps += 1;
        self.stage.look().await;
        let hours = if self.dice.percent(50) { 1 } else { -1 };
        self.stage.jump(SignedDuration::from_hours(hours));
        if self.dice.percent(70) {
            let before = self.leases();
            self.stage.look().await;
            // A clock that was set takes nothing away from anybody who was heard of.
            let after = self.leases();
            let lost = before.iter().filter(|one| !after.contains(one)).count();
            assert_eq!(lost, 0, "a clock that was set took {lost} leases away");
        }
    }

    /// What workers have that will not be ended for another reason than the clock.
    fn leases(&self) -> Vec<(TaskId, u32)> {
        let sql =
            "SELECT task, attempt FROM lease WHERE task NOT IN (SELECT task FROM task_deadline)";
        self.stage.rows(sql, [], |row| (task_id(row, 0), row.get(1).unwrap()))
    }

    pub(super) async fn restart(&mut self) {
        self.counts.restarts += 1;
        let broken = self.broken;
        self.stage
            .restart(|file| {
                if let Some(broken) = broken {
                    broken.at_restart(file);
                }
            })
            .await;
        self.recorder.cut();
    }

    /// Reads the log on from where it was read to.
    async fn subscribe(&mut self) {
        let (scope, from) = (Scope::Tenant(self.stage.tenant), godel_model::Seq(self.seen));
        let read = self.stage.app.store.read(scope, move |tx| {
            let all = godel_model::EventFilter::all();
            Ok::<_, StoreError>(tx.events().page(&all, Direction::Forward, from, 1_000)?.events)
        });
        let seqs: Vec<u64> =
            read.await.unwrap().iter().map(|event| event.seq.0.try_into().unwrap()).collect();
        if let Some(last) = seqs.last() {
            self.seen = (*last).try_into().unwrap();
            self.recorder.seen("reader", &self.stage.tenant.to_string(), &seqs, None);
        }
    }

    /// Lets everything end: nothing new comes, and workers that can do all do all.
    async fn drain(&mut self) {
        for pool in POOLS {
            self.set_paused(pool, false).await;
        }
        for _ in 0..3 {
            self.pass(SignedDuration::from_secs(31)).await;
        }
        self.hands.clear();
        if !self.weather.ageing {
            self.recorder.quiesced(None);
        }
        for _ in 0..60 {
            self.stage.tick(SignedDuration::from_millis(1));
            self.stage.look().await;
            self.register_all().await;
            let mut idle = true;
            for number in 0..self.hands.len() {
                self.claim_of(number, 50).await;
                while let Some((task, attempt)) = self.hands[number].held.last().copied() {
                    idle = false;
                    self.complete(number, (task, attempt)).await;
                }
            }
            if idle && !self.hurry_on().await {
                self.recorder.drained();
                self.counts.drained += 1;
                return;
            }
        }
        let left = self.open();
        panic!("the queue does not run dry: {left:?}");
    }

    /// What has not ended: where it is, and when it is due.
    fn open(&self) -> Vec<(TaskId, String, i64)> {
        let sql = "SELECT task, 'ready ' || lane, 0 FROM ready
            UNION ALL SELECT task, 'delayed', due_at FROM delayed
            UNION ALL SELECT task, 'blocked', 0 FROM blocked
            UNION ALL SELECT task, 'running', 0 FROM lease";
        self.stage.rows(sql, [], |row| (task_id(row, 0), row.get(1).unwrap(), row.get(2).unwrap()))
    }

    /// Lets time pass until the next task is due, or ends those that wait for what will not come;
    /// `false` if nothing is left.
    async fn hurry_on(&mut self) -> bool {
        let open = self.open();
        let due = open.iter().filter(|one| one.1 == "delayed").map(|one| one.2).min();
        if let Some(due) = due {
            let wait = (due - self.stage.now()).max(0) + 1_000;
            self.pass(SignedDuration::from_micros(wait)).await;
            // Nobody is to fall silent meanwhile.
            self.hands.clear();
            return true;
        }
        for (task, ..) in open.iter().filter(|one| one.1 == "blocked") {
            self.cancel_of(*task).await;
        }
        !open.is_empty()
    }

    async fn register_all(&mut self) {
        if !self.hands.is_empty() {
            for number in 0..self.hands.len() {
                self.beat_of(number).await;
            }
            return;
        }
        for pool in POOLS {
            let able = ABLE.iter().map(|able| able.parse().unwrap()).collect();
            self.let_in(pool, able).await;
        }
    }
}

/// Reads the id of a task.
pub(super) fn task_id(row: &rusqlite::Row<'_>, column: usize) -> TaskId {
    let bytes: Vec<u8> = row.get(column).unwrap();
    TaskId::from_uuid(uuid::Uuid::from_slice(&bytes).unwrap())
}
