//! What workers do: take tasks, say what became of them, late, twice or never.

use std::collections::BTreeSet;
use std::time::Duration;

use godel_app::queue::workers::{self, NewWorker};
use godel_app::queue::{Author, QueueError, Said, Say};
use godel_app::{Error, Result};
use godel_model::{Capability, Lane, Payload, TaskId, TaskState, WorkerId};
use godel_referee::{Answer, Claim, Lease, What};
use godel_store::Fence;
use serde_json::json;

use super::broken::{self, Broken};
use super::clients::refused;
use super::sim::{ABLE, Hand, POOLS, Sim, task_id};

const CAPACITY: u32 = 100;

impl Sim {
    /// Everything that workers believe to have.
    pub(super) fn held(&self) -> Vec<(WorkerId, TaskId, u32)> {
        let held = self
            .hands
            .iter()
            .flat_map(|hand| hand.held.iter().map(|(task, attempt)| (hand.id, *task, *attempt)));
        held.collect()
    }

    pub(super) async fn register(&mut self) {
        if self.hands.len() < 5 {
            let pool = self.dice.pick(&POOLS).unwrap();
            let able = ABLE.into_iter().filter(|_| self.dice.percent(60));
            let able = able.map(|able| able.parse().unwrap()).collect();
            self.let_in(pool, able).await;
        }
    }

    pub(super) async fn let_in(&mut self, pool: &str, able: BTreeSet<Capability>) {
        let name = self.name("worker");
        let new = NewWorker {
            name: name.clone(),
            pool: pool.parse().unwrap(),
            capabilities: able.clone(),
            capacity: CAPACITY,
        };
        let made = workers::register(&self.stage.app, &self.stage.call, new).await.unwrap();
        self.hands.push(Hand { id: made.id, name, pool: made.pool, able, held: Vec::new() });
    }

    /// Forgets a worker; what it had it may still speak of.
    fn bury(&mut self, number: usize) {
        let hand = self.hands.remove(number);
        self.old.extend(hand.held.iter().map(|(task, attempt)| (hand.id, *task, *attempt)));
        self.counts.buried += 1;
    }

    pub(super) async fn leave(&mut self) {
        if self.hands.is_empty() {
            return;
        }
        let number = self.dice.below(self.hands.len());
        let id = self.hands[number].id;
        match workers::leave(&self.stage.app, &self.stage.call, id).await {
            Ok(()) | Err(Error::Queue(QueueError::NoWorker(_))) => self.bury(number),
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn beat(&mut self) {
        if !self.hands.is_empty() {
            let number = self.dice.below(self.hands.len());
            self.beat_of(number).await;
        }
    }

    /// Says that a worker lives; it takes over what it has by the book and was never told.
    pub(super) async fn beat_of(&mut self, number: usize) {
        let Some(hand) = self.hands.get(number) else { return };
        match workers::beat(&self.stage.app, &self.stage.call, hand.id).await {
            Ok(beat) => {
                let hand = &mut self.hands[number];
                for lease in beat.held {
                    let known = (lease.spot.task, lease.spot.attempt);
                    if !hand.held.contains(&known) {
                        hand.held.push(known);
                    }
                }
            }
            Err(Error::Queue(QueueError::NoWorker(_))) => self.bury(number),
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn claim(&mut self) {
        if self.hands.is_empty() {
            return self.register().await;
        }
        let number = self.dice.below(self.hands.len());
        let free = u32::try_from(self.dice.between(1, 3)).unwrap();
        self.claim_of(number, free).await;
    }

    /// All that a worker could take now: tier, since when, task.
    fn ready_for(&self, hand: &Hand) -> Vec<(u8, i64, String)> {
        if self.paused.contains(hand.pool.as_str()) {
            return Vec::new();
        }
        let own = Lane::of_worker(&hand.pool, hand.id);
        let sql = "SELECT tier, at, task, lane FROM ready";
        let ready = self.stage.rows(sql, [], |row| {
            let lane = Lane::from_stored(row.get(3).unwrap());
            let open = lane.pool() == hand.pool.as_str()
                && lane.is_open_to(&hand.able)
                && !lane.bars(hand.id);
            let task = task_id(row, 2).to_string();
            (open || lane == own).then(|| (row.get(0).unwrap(), row.get(1).unwrap(), task))
        });
        ready.into_iter().flatten().collect()
    }

    fn lives(&self, id: WorkerId) -> bool {
        let sql = "SELECT 1 FROM worker WHERE id = ?1 AND gone = 0";
        !self.stage.rows(sql, [id.uuid().as_bytes().to_vec()], |_| ()).is_empty()
    }

    pub(super) async fn claim_of(&mut self, number: usize, free: u32) {
        let hand = self.hands[number].clone();
        let (ready, lives) = (self.ready_for(&hand), self.lives(hand.id));
        let what = What::Claim { pool: hand.pool.to_string(), limit: free };
        let op = self.recorder.invoke(&hand.name, what);
        let (app, call) = (self.stage.app.clone(), self.stage.call.clone());
        let id = hand.id;
        let given = if self.broken == Some(Broken::TakesTheLast) {
            Some(Ok(broken::take_the_last(&self.stage, &hand).await))
        } else {
            let work = async move { workers::claim(&app, &call, id, (free, Duration::ZERO)).await };
            self.through(work).await
        };
        match given {
            Some(Ok(given)) => {
                let due = ready.len().min(free as usize);
                let (got, asks) = (given.len(), self.broken.is_none() && lives);
                assert!(!asks || got == due, "{got} of {due} tasks came");
                let claims = given.iter().map(|given| Claim {
                    task: given.lease.spot.task.to_string(),
                    attempt: given.lease.spot.attempt,
                    at: Some(godel_model::micros(given.lease.started_at)),
                    tier: Some(u8::try_from(given.lease.spot.priority.tier()).unwrap()),
                });
                let claims = claims.collect();
                let at = Some(self.stage.now());
                op.ok(Answer { claims, at, ready_before: Some(ready), ..Answer::default() });
                let got =
                    given.iter().map(|given| (given.lease.spot.task, given.lease.spot.attempt));
                self.hands[number].held.extend(got);
            }
            Some(Err(error)) => refused(op, &error),
            None => op.unknown(),
        }
    }

    /// A worker says what became of something that it has.
    pub(super) async fn report(&mut self) {
        let held = self.held();
        if let Some(fence) = self.dice.pick(&held) {
            let say = self.word();
            self.say(fence, say, false).await;
        }
    }

    /// Somebody says again what was said, or what it has no right to say any more.
    pub(super) async fn repeat(&mut self) {
        if let Some(fence) = self.dice.pick(&self.old.clone()) {
            let say = self.word();
            let past_the_door = self.dice.percent(50);
            self.say(fence, say, past_the_door).await;
        }
    }

    pub(super) async fn complete(&mut self, number: usize, (task, attempt): (TaskId, u32)) {
        let id = self.hands[number].id;
        self.say((id, task, attempt), Say::Done(None), false).await;
    }

    fn word(&mut self) -> Say {
        match self.dice.below(20) {
            0..10 => Say::Done(Some(Payload::of(&json!({ "ok": true })))),
            10..15 => Say::Failed { error: "it broke".to_owned(), fatal: false },
            15 => Say::Failed { error: "hopeless".to_owned(), fatal: true },
            16..18 => Say::Progress(Payload::of(&json!({ "percent": 50 }))),
            _ => Say::Released,
        }
    }

    /// Says something of a task; `past_the_door` if it comes over a server that has not heard yet that
    /// the worker is gone.
    async fn say(
        &mut self,
        (worker, task, attempt): (WorkerId, TaskId, u32),
        say: Say,
        past_the_door: bool,
    ) {
        let lease = Lease { task: task.to_string(), attempt };
        let ends = !matches!(say, Say::Progress(_));
        let what = match &say {
            Say::Done(_) => What::Complete(lease),
            Say::Failed { error, .. } => {
                What::Fail { task: lease.task, attempt, error: error.clone() }
            }
            Say::Progress(_) => What::Progress(lease),
            Say::Released => What::Release(lease),
        };
        let op = self.recorder.invoke("worker", what);
        let (app, call) = (self.stage.app.clone(), self.stage.call.clone());
        let desk = app.desks.of(self.stage.tenant);
        let heard = say.clone();
        let work = async move {
            if past_the_door {
                let fence = Fence { task, attempt, worker };
                return desk.say(fence, heard, Author::default()).await.map_err(Into::into);
            }
            workers::say(&app, &call, (worker, task, attempt), heard).await
        };
        let mut said: Option<Result<Said>> = self.through(work).await;
        if self.broken == Some(Broken::SkipsTheFence)
            && let Some(Err(Error::Queue(_))) = &said
            && let Some(accepted) = broken::accept_anyway(&self.stage, task, say).await
        {
            said = Some(Ok(accepted));
        }
        if ends {
            self.drop_held((worker, task, attempt));
        }
        match said {
            Some(Ok(said)) => {
                let delay = match said {
                    Said::Again(at) => Some(godel_model::micros(at) - self.stage.now()),
                    Said::Over(_) | Said::Noted { .. } => None,
                };
                self.counts.dead += u64::from(said == Said::Over(TaskState::Dead));
                op.ok(Answer { at: Some(self.stage.now()), delay, ..Answer::default() });
            }
            Some(Err(error)) => {
                self.counts.fenced += 1;
                refused(op, &error);
            }
            None => op.unknown(),
        }
    }

    fn drop_held(&mut self, fence: (WorkerId, TaskId, u32)) {
        for hand in self.hands.iter_mut().filter(|hand| hand.id == fence.0) {
            hand.held.retain(|held| *held != (fence.1, fence.2));
        }
        if !self.old.contains(&fence) {
            self.old.push(fence);
        }
    }
}
