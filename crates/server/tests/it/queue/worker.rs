//! Workers: some are slow, some say things twice, some come too late.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use godel_referee::{Answer, Claim, Lease, Op, Recorder, What};
use serde_json::{Value, json};

use super::http::{Heard, Way};
use super::load::{Chance, POISON, POOLS, ask_for, tier};

const PAUSE: Duration = Duration::from_millis(50);
/// How often a worker that is at its work looks whether the shop is closed.
const LOOK: Duration = Duration::from_millis(500);

/// What all workers know.
#[derive(Clone)]
pub(super) struct Shop {
    pub(super) way: Way,
    pub(super) recorder: Recorder,
    pub(super) tenant: String,
    /// Whether everything is to come to an end: each task is done at its next attempt.
    pub(super) drains: Arc<AtomicBool>,
    pub(super) closed: Arc<AtomicBool>,
    /// How long a worker waits for tasks.
    pub(super) wait_ms: u64,
    /// How long a worker is at what it got, on average.
    pub(super) pace: Duration,
    /// Who was answered when it asked for tasks.
    pub(super) served: Arc<Mutex<HashSet<String>>>,
}

struct Worker {
    shop: Shop,
    chance: Chance,
    name: String,
    pool: &'static str,
    id: String,
    /// What it had once: task and attempt.
    old: Vec<(String, u32)>,
}

/// Works until the shop is closed; returns how often it was told that it came too late.
pub(super) async fn work(shop: Shop, number: usize) -> u64 {
    let mut worker = Worker {
        shop,
        chance: Chance::of(1_000 + number as u64),
        name: format!("worker {number}"),
        pool: POOLS[number % POOLS.len()],
        id: String::new(),
        old: Vec::new(),
    };
    let mut late = 0;
    while !worker.shop.closed.load(Ordering::Relaxed) {
        if worker.id.is_empty() && !worker.register().await {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        late += worker.turn().await;
    }
    late
}

impl Worker {
    fn drains(&self) -> bool {
        self.shop.drains.load(Ordering::Relaxed)
    }

    async fn register(&mut self) -> bool {
        let able: &[&str] = &["gpu"];
        let new =
            json!({ "name": self.name, "pool": self.pool, "capacity": 8, "capabilities": able });
        match self.shop.way.post("/workers", &new).await {
            Heard::Yes(made) => self.id = made["id"].as_str().unwrap().to_owned(),
            Heard::No(status, code) => panic!("no worker may be {}: {status} {code}", self.name),
            Heard::Nobody => {}
        }
        !self.id.is_empty()
    }

    /// Takes what there is, says what becomes of it, and looks whether it has what it does not know of.
    async fn turn(&mut self) -> u64 {
        let (mut late, given) = (0, self.claim().await);
        if !given.is_empty() {
            self.be_at_work().await;
        }
        for given in given {
            late += self.carry_out(given).await;
        }
        if !self.drains() && self.chance.percent(20) {
            late += self.come_too_late().await;
        }
        self.tidy_up().await;
        late
    }

    async fn be_at_work(&mut self) {
        if self.shop.pace.is_zero() {
            return;
        }
        let share = 0.5 + self.chance.below(100) as f64 / 100.0;
        let until = Instant::now() + self.shop.pace.mul_f64(share);
        while !self.shop.closed.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }

    async fn claim(&mut self) -> Vec<Given> {
        let free = 1 + self.chance.below(4);
        let limit = u32::try_from(free).unwrap();
        let what = What::Claim { pool: self.pool.to_owned(), limit };
        let op = self.shop.recorder.invoke(&self.name, what);
        let asked = json!({ "free": free, "waitMs": self.shop.wait_ms });
        match self.shop.way.post(&format!("/workers/{}/claim", self.id), &asked).await {
            Heard::Yes(given) => {
                self.shop.served.lock().unwrap().insert(self.name.clone());
                let given = given["tasks"].as_array().unwrap();
                op.ok(Answer::claims(given.iter().map(claim).collect()));
                given.iter().map(Given::read).collect()
            }
            Heard::No(_, code) => {
                op.fail(&code);
                self.is_gone(&code);
                Vec::new()
            }
            Heard::Nobody => {
                op.unknown();
                tokio::time::sleep(PAUSE).await;
                Vec::new()
            }
        }
    }

    fn is_gone(&mut self, code: &str) {
        if code == "worker_not_found" {
            self.id.clear();
        }
    }

    async fn carry_out(&mut self, Given { task, attempt, poison }: Given) -> u64 {
        let lot = if self.drains() { 99 } else { self.chance.below(100) };
        if lot < 10 {
            self.spawn(&task, attempt).await;
        }
        let lease = Lease { task: task.clone(), attempt };
        let late = match lot {
            _ if poison => self.fail(&task, attempt).await,
            10..20 => {
                self.say(What::Progress(lease.clone())).await;
                self.say(What::Complete(lease)).await
            }
            20..40 => self.fail(&task, attempt).await,
            40..45 => self.say(What::Release(lease)).await,
            // It forgets that it has it.
            45..48 => 0,
            48..58 => {
                let late = self.say(What::Complete(lease.clone())).await;
                late + self.say(What::Complete(lease)).await
            }
            _ => self.say(What::Complete(lease)).await,
        };
        self.old.push((task, attempt));
        late
    }

    async fn fail(&mut self, task: &str, attempt: u32) -> u64 {
        let (task, error) = (task.to_owned(), "it broke".to_owned());
        self.say(What::Fail { task, attempt, error }).await
    }

    /// Speaks of something that it had long ago.
    async fn come_too_late(&mut self) -> u64 {
        if self.old.is_empty() || self.id.is_empty() {
            return 0;
        }
        let (task, attempt) = self.old[self.chance.below(self.old.len())].clone();
        let lease = Lease { task: task.clone(), attempt };
        match self.chance.below(4) {
            0 => self.fail(&task, attempt).await,
            1 => self.say(What::Progress(lease)).await,
            2 => self.say(What::Release(lease)).await,
            _ => self.say(What::Complete(lease)).await,
        }
    }

    /// Says something until it is answered; each time is one operation. Returns 1 if it came too late.
    async fn say(&mut self, what: What) -> u64 {
        let (path, body) = self.words(&what);
        while !self.id.is_empty() {
            let op = self.shop.recorder.invoke(&self.name, what.clone());
            match self.shop.way.post(&path, &body).await {
                Heard::Yes(_) => {
                    op.ok(Answer::default());
                    return 0;
                }
                Heard::No(status, code) => {
                    op.fail(&code);
                    let expected = ["task_lease_lost", "worker_not_found"];
                    assert!(expected.contains(&code.as_str()), "{status} {code} to {what:?}");
                    self.is_gone(&code);
                    return 1;
                }
                Heard::Nobody => {
                    op.unknown();
                    tokio::time::sleep(PAUSE).await;
                }
            }
            if self.shop.closed.load(Ordering::Relaxed) {
                return 0;
            }
        }
        0
    }

    fn words(&self, what: &What) -> (String, Value) {
        let body = |attempt: &u32| json!({ "workerId": self.id, "attempt": attempt });
        match what {
            What::Complete(Lease { task, attempt }) => {
                (format!("/tasks/{task}/complete"), body(attempt))
            }
            What::Progress(Lease { task, attempt }) => {
                let mut body = body(attempt);
                body["progress"] = json!({ "percent": 50 });
                (format!("/tasks/{task}/progress"), body)
            }
            What::Release(Lease { task, attempt }) => {
                (format!("/tasks/{task}/release"), body(attempt))
            }
            What::Fail { task, attempt, error } => {
                let mut body = body(attempt);
                body["error"] = json!(error);
                (format!("/tasks/{task}/fail"), body)
            }
            other => panic!("a worker does not say {other:?}"),
        }
    }

    /// Adds a task in the name of one that it has; whether it is there is known or not.
    async fn spawn(&mut self, task: &str, attempt: u32) {
        let key = format!("{} {}", self.name, self.chance.below(1_000_000_000));
        let (ask, new) = ask_for(&mut self.chance, (&self.shop.tenant, key), &[]);
        let what = What::Spawn { task: task.to_owned(), attempt, child: ask };
        let op = self.shop.recorder.invoke(&self.name, what);
        let body = json!({ "workerId": self.id, "attempt": attempt, "task": new });
        made(op, self.shop.way.post(&format!("/tasks/{task}/spawn"), &body).await);
    }

    /// Gives back what it has by the book and does not know of: an answer was lost, or it forgot.
    async fn tidy_up(&mut self) {
        if self.id.is_empty() {
            return;
        }
        let path = format!("/workers/{}/heartbeat", self.id);
        match self.shop.way.post(&path, &json!({})).await {
            Heard::Yes(beat) => {
                for held in beat["tasks"].as_array().unwrap() {
                    let task = held["taskId"].as_str().unwrap().to_owned();
                    let attempt = held["attempt"].as_u64().unwrap().try_into().unwrap();
                    let lease = Lease { task, attempt };
                    let word = if self.drains() { What::Complete } else { What::Release };
                    self.say(word(lease)).await;
                }
            }
            Heard::No(_, code) => self.is_gone(&code),
            Heard::Nobody => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Notes what became of a request to make a task; tells its id.
pub(super) fn made(op: Op, heard: Heard) -> Option<String> {
    match heard {
        Heard::Yes(made) => {
            let id = made["id"].as_str().unwrap().to_owned();
            op.ok(Answer::task(id.clone()));
            Some(id)
        }
        Heard::No(_, code) => {
            op.fail(&code);
            None
        }
        Heard::Nobody => {
            op.unknown();
            None
        }
    }
}

fn claim(given: &Value) -> Claim {
    Claim {
        task: given["id"].as_str().unwrap().to_owned(),
        attempt: given["attempt"].as_u64().unwrap().try_into().unwrap(),
        at: None,
        tier: Some(tier(given["priority"].as_str().unwrap())),
    }
}

/// A task that a worker got.
struct Given {
    task: String,
    attempt: u32,
    /// Whether every attempt of it fails, whoever has it.
    poison: bool,
}

impl Given {
    fn read(given: &Value) -> Self {
        Self {
            task: given["id"].as_str().unwrap().to_owned(),
            attempt: given["attempt"].as_u64().unwrap().try_into().unwrap(),
            poison: given["title"].as_str().unwrap().starts_with(POISON),
        }
    }
}
