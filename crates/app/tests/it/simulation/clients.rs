//! What clients ask for: new tasks, and another fate for old ones.

use godel_app::queue::dead::{self, DeadFilter};
use godel_app::queue::pools::{self, PoolChange};
use godel_app::queue::{QueueError, tasks};
use godel_app::{Error, Result};
use godel_model::{NewTask, Payload, RetryPolicy, TaskId, TaskPriority, TaskState};
use godel_referee::{Answer, Ask, Backoff, Op, What};
use godel_store::Fence;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::sim::{ABLE, Asked, POOLS, Sim};

/// Notes a plain no; whatever else goes wrong is no answer but a failure of the test.
pub(super) fn refused(op: Op, error: &Error) {
    assert!(matches!(error, Error::Queue(_)), "{error}");
    op.fail(&error.to_string());
}

impl Sim {
    fn later(&self, by: SignedDuration) -> Timestamp {
        godel_model::Clock::now(&*self.stage.clock).saturating_add(by).unwrap()
    }

    /// Thinks of a task that nobody has asked for yet.
    fn think(&mut self) -> Asked {
        let title = self.name("task");
        let pool = self.dice.pick(&POOLS).unwrap();
        let priority = self.dice.pick(&TaskPriority::ALL).unwrap();
        let mut parents = Vec::new();
        if self.dice.percent(35) {
            for _ in 0..self.dice.between(1, 2) {
                parents.extend(self.dice.pick(&self.asked.clone()).filter(|one| one.id.is_some()));
            }
        }
        parents.dedup_by_key(|one| one.id);
        let start_at = self.dice.percent(15).then(|| self.dice.between(-500, 20_000));
        let start_at = start_at.map(|by| self.later(SignedDuration::from_millis(by)));
        let deadline = self.dice.percent(10).then(|| self.dice.between(21_000, 90_000));
        let deadline = deadline.map(|by| self.later(SignedDuration::from_millis(by)));
        let requires = ABLE.into_iter().filter(|_| self.dice.percent(15));
        let requires = requires.map(|able| able.parse().unwrap()).collect();
        let retry = RetryPolicy {
            max_attempts: u32::try_from(self.dice.between(1, 3)).unwrap(),
            delay_ms: self.dice.pick(&[0, 1, 500, 3_000]).unwrap(),
            max_delay_ms: self.dice.pick(&[2_000, 30_000]).unwrap(),
            elsewhere: self.dice.percent(30),
        };
        let new = NewTask {
            title: title.clone(),
            payload: Payload::of(&json!({})),
            pool: pool.parse().unwrap(),
            priority,
            requires,
            retry,
            timeout_seconds: self.dice.percent(12).then(|| self.dice.between(5, 40).unsigned_abs()),
            start_at,
            deadline,
            after: parents.iter().filter_map(|parent| parent.id).collect(),
            session: None,
            key: Some(title.clone()),
            owner: None,
        };
        let micros = |millis: u64| i64::try_from(millis).unwrap() * 1_000;
        let ask = Ask {
            key: title,
            tenant: self.stage.tenant.to_string(),
            pool: pool.to_owned(),
            tier: u8::try_from(priority.tier()).unwrap(),
            parents: parents.into_iter().map(|parent| parent.ask.key).collect(),
            max_attempts: retry.max_attempts,
            delay: None,
            start_at: start_at.map(godel_model::micros),
            backoff: Some(Backoff {
                first: micros(retry.delay_ms),
                most: micros(retry.max_delay_ms),
                random: 0.5,
            }),
        };
        Asked { new, ask, id: None }
    }

    /// Picks a task that somebody got an answer for.
    fn known(&mut self) -> Option<TaskId> {
        let known: Vec<TaskId> = self.asked.iter().filter_map(|asked| asked.id).collect();
        // The younger ones are of more interest.
        let recent = known.len().saturating_sub(12);
        if self.dice.percent(70) {
            self.dice.pick(&known[recent..])
        } else {
            self.dice.pick(&known)
        }
    }

    pub(super) async fn enqueue(&mut self) {
        let place = if !self.asked.is_empty() && self.dice.percent(10) {
            self.dice.below(self.asked.len())
        } else {
            let asked = self.think();
            self.asked.push(asked);
            self.asked.len() - 1
        };
        let asked = self.asked[place].clone();
        let op = self.recorder.invoke("client", What::Enqueue(asked.ask));
        let (app, call) = (self.stage.app.clone(), self.stage.call.clone());
        let made = self.through(async move { tasks::create(&app, &call, asked.new).await }).await;
        self.made(place, op, made);
    }

    fn made(&mut self, place: usize, op: Op, made: Option<Result<tasks::Created>>) {
        match made {
            Some(Ok(made)) => {
                self.asked[place].id = Some(made.id);
                op.ok(Answer::task(made.id.to_string()).at(self.stage.now()));
            }
            Some(Err(error)) => refused(op, &error),
            None => op.unknown(),
        }
    }

    /// Adds a task in the name of one that a worker has, or had.
    pub(super) async fn spawn(&mut self) {
        let mut fences: Vec<_> = self.held();
        if self.dice.percent(30) || fences.is_empty() {
            fences.clone_from(&self.old);
        }
        let Some((worker, task, attempt)) = self.dice.pick(&fences) else { return };
        let asked = self.think();
        self.asked.push(asked.clone());
        let place = self.asked.len() - 1;
        let what = What::Spawn { task: task.to_string(), attempt, child: asked.ask };
        let op = self.recorder.invoke("worker", what);
        let under = Fence { task, attempt, worker };
        let (app, call) = (self.stage.app.clone(), self.stage.call.clone());
        let work = async move { tasks::spawn(&app, &call, asked.new, (under, false)).await };
        let made = self.through(work).await;
        if let Some(Err(Error::Queue(QueueError::LeaseLost(_)))) = &made {
            self.counts.fenced += 1;
        }
        self.made(place, op, made);
    }

    pub(super) async fn cancel(&mut self) {
        if let Some(task) = self.known() {
            self.cancel_of(task).await;
        }
    }

    pub(super) async fn cancel_of(&mut self, task: TaskId) {
        let op = self.recorder.invoke("client", What::Cancel { task: task.to_string() });
        let (app, call) = (self.stage.app.clone(), self.stage.call.clone());
        let work = async move { tasks::cancel(&app, &call, task, None).await };
        match self.through(work).await {
            Some(Ok(found)) => {
                let stopping = found.state == TaskState::Running;
                op.ok(Answer { stopping, at: Some(self.stage.now()), ..Answer::default() });
            }
            Some(Err(error)) => refused(op, &error),
            None => op.unknown(),
        }
    }

    pub(super) async fn replay(&mut self) {
        let (app, call) = (self.stage.app.clone(), self.stage.call.clone());
        if self.weather.replays_many && self.dice.percent(25) {
            let op = self.recorder.invoke("client", What::Replay { task: None });
            let filter = DeadFilter {
                pool: self.dice.pick(&POOLS).map(str::to_owned),
                ..Default::default()
            };
            let work = async move { dead::replay_all(&app, &call, filter).await };
            match self.through(work).await {
                Some(Ok(count)) => {
                    self.counts.replays += count;
                    op.ok(Answer::default().at(self.stage.now()));
                }
                Some(Err(error)) => refused(op, &error),
                None => op.unknown(),
            }
            return;
        }
        let Some(task) = self.known() else { return };
        let op = self.recorder.invoke("client", What::Replay { task: Some(task.to_string()) });
        let work = async move { tasks::retry(&app, &call, task).await };
        match self.through(work).await {
            Some(Ok(_)) => {
                self.counts.replays += 1;
                op.ok(Answer::default().at(self.stage.now()));
            }
            Some(Err(error)) => refused(op, &error),
            None => op.unknown(),
        }
    }

    /// Gives a task to one worker of its pool alone.
    pub(super) async fn assign(&mut self) {
        let (Some(task), Some(hand)) = (self.known(), self.dice.pick(&self.hands.clone())) else {
            return;
        };
        let (app, call) = (&self.stage.app, &self.stage.call);
        let (found, _) = tasks::find(app, call, task).await.unwrap();
        if found.task.asked.pool == hand.pool {
            match tasks::assign(app, call, task, hand.id).await {
                Ok(_) => self.counts.assigned += 1,
                Err(error) => assert!(matches!(error, Error::Queue(_)), "{error}"),
            }
        }
    }

    pub(super) async fn pause(&mut self) {
        let pool = self.dice.pick(&POOLS).unwrap();
        let paused = self.dice.percent(40);
        self.set_paused(pool, paused).await;
    }

    pub(super) async fn set_paused(&mut self, pool: &'static str, paused: bool) {
        let change = PoolChange { paused: Some(paused), ..Default::default() };
        let (app, call) = (&self.stage.app, &self.stage.call);
        pools::change(app, call, pool.parse().unwrap(), change).await.unwrap();
        if paused {
            self.paused.insert(pool);
        } else {
            self.paused.remove(pool);
        }
    }
}
