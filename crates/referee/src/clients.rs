//! The clients' side of a history: what was asked, and what was answered.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::{Error, story};
use crate::record::{Answer, Lease, What};
use crate::rules::{i01_loss, i03_attempts, i05_fence, i06_final, i07_priority, i09_dag};
use crate::verdict::Verdict;
use crate::world::{AskNo, Done, Fact, TaskNo, World};

/// Operations that have no answer yet.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    open: HashMap<u64, Open>,
    drains: i07_priority::Drains,
}

#[derive(Debug)]
struct Open {
    line: u64,
    asks: Asks,
}

#[derive(Debug)]
enum Asks {
    Task(AskNo, Option<Fenced>),
    Claim(i07_priority::Before),
    Ack(Done, Fenced),
    Cancel(TaskNo),
    Replay(Option<TaskNo>),
    Nothing,
}

/// An attempt that asks for something, and what was known of the task when it asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fenced {
    pub(crate) task: TaskNo,
    pub(crate) attempt: u32,
    /// The newest attempt that any client had then, and the line that says so.
    pub(crate) newest: (u32, u64),
}

impl Clients {
    pub(crate) fn quiesce(&mut self, world: &mut World, pool: Option<&str>, line: u64) {
        let pool = pool.map(|pool| world.name_no(pool));
        self.drains.quiesce(pool, line);
    }

    pub(crate) fn invoke(
        &mut self,
        world: &mut World,
        line: u64,
        op: u64,
        what: &What,
    ) -> Result<(), Error> {
        let asks = match what {
            What::Enqueue(ask) => {
                let no = world.ask(ask, line);
                world[no].freely = true;
                Asks::Task(no, None)
            }
            What::Spawn { task, attempt, child } => {
                let fenced = fenced(world, task, *attempt);
                let no = world.ask(child, line);
                world[no].holders.push((fenced.task, fenced.attempt));
                Asks::Task(no, Some(fenced))
            }
            What::Claim { pool, .. } => {
                let pool = world.name_no(pool);
                Asks::Claim(self.drains.before(pool))
            }
            What::Complete(Lease { task, attempt }) => {
                let fenced = fenced(world, task, *attempt);
                world[fenced.task].completes += 1;
                Asks::Ack(Done::Completed, fenced)
            }
            What::Fail { task, attempt, .. } => {
                Asks::Ack(Done::Failed, fenced(world, task, *attempt))
            }
            What::Progress(Lease { task, attempt }) => {
                Asks::Ack(Done::Progressed, fenced(world, task, *attempt))
            }
            What::Release(Lease { task, attempt }) => {
                Asks::Ack(Done::Released, fenced(world, task, *attempt))
            }
            What::Cancel { task } => {
                let task = world.task_no(task);
                world[task].cancels += 1;
                Asks::Cancel(task)
            }
            What::Replay { task: Some(task) } => {
                let task = world.task_no(task);
                world[task].replays += 1;
                Asks::Replay(Some(task))
            }
            What::Replay { task: None } => {
                world.replay_any = true;
                Asks::Replay(None)
            }
            What::Heartbeat { .. } => Asks::Nothing,
        };
        match self.open.entry(op) {
            Entry::Vacant(place) => {
                place.insert(Open { line, asks });
                Ok(())
            }
            Entry::Occupied(_) => Err(story(line, format!("operation {op} is asked twice"))),
        }
    }

    pub(crate) fn ok(
        &mut self,
        world: &mut World,
        verdict: &mut Verdict,
        said: Said<'_>,
    ) -> Result<(), Error> {
        let Said { line, op, answer } = said;
        let open = self.take(line, op)?;
        match open.asks {
            Asks::Task(ask, fenced) => {
                let id = answer.task.as_deref();
                let id = id.ok_or_else(|| story(line, format!("operation {op} names no task")))?;
                let task = world.task_no(id);
                i01_loss::answered(world, verdict, (ask, task), line);
                if let Some(fenced) = fenced {
                    i05_fence::answered(world, verdict, fenced, (line, answer.at));
                }
                let asked = &mut world[ask];
                asked.task.get_or_insert(task);
                if asked.accepted == 0 {
                    asked.accepted = line;
                }
                world[task].asked.get_or_insert(ask);
            }
            Asks::Claim(before) => {
                i07_priority::snapshot(world, verdict, answer, line);
                self.drains.after(world, verdict, (&before, answer), line);
                for claim in &answer.claims {
                    let task = world.task_no(&claim.task);
                    let fact = Fact {
                        done: Done::Claimed,
                        attempt: claim.attempt,
                        line,
                        at: claim.at.or(answer.at),
                        delay: None,
                    };
                    handed_out(world, verdict, (task, fact), open.line);
                }
            }
            Asks::Ack(done, fenced) => {
                i05_fence::answered(world, verdict, fenced, (line, answer.at));
                let (at, delay) = (answer.at, answer.delay);
                let fact = Fact { done, attempt: fenced.attempt, line, at, delay };
                // How far an attempt is may be told by one event for many answers.
                if done != Done::Progressed {
                    world[fenced.task].facts.push(fact);
                }
            }
            Asks::Cancel(_) if answer.stopping => {}
            Asks::Cancel(task) => {
                world[task].facts.push(plain(Done::Cancelled, line, answer.at));
            }
            Asks::Replay(Some(task)) => {
                world[task].facts.push(plain(Done::Replayed, line, answer.at));
            }
            Asks::Replay(None) | Asks::Nothing => {}
        }
        Ok(())
    }

    /// Takes back what was asked for, because the server refused.
    pub(crate) fn fail(&mut self, world: &mut World, line: u64, op: u64) -> Result<(), Error> {
        match self.take(line, op)?.asks {
            Asks::Task(ask, fenced) => {
                let asked = &mut world[ask];
                asked.asks -= 1;
                if let Some(fenced) = fenced {
                    let holder = (fenced.task, fenced.attempt);
                    if let Some(at) = asked.holders.iter().position(|other| *other == holder) {
                        asked.holders.swap_remove(at);
                    }
                }
            }
            Asks::Ack(Done::Completed, fenced) => world[fenced.task].completes -= 1,
            Asks::Cancel(task) => world[task].cancels -= 1,
            Asks::Replay(Some(task)) => world[task].replays -= 1,
            Asks::Claim(_) | Asks::Ack(..) | Asks::Replay(None) | Asks::Nothing => {}
        }
        Ok(())
    }

    /// Forgets an operation whose outcome nobody knows: all that it may have done stays possible.
    pub(crate) fn unknown(&mut self, line: u64, op: u64) -> Result<(), Error> {
        self.take(line, op).map(|_| ())
    }

    fn take(&mut self, line: u64, op: u64) -> Result<Open, Error> {
        let unasked = || story(line, format!("operation {op} is answered but not open"));
        self.open.remove(&op).ok_or_else(unasked)
    }
}

/// A yes, as it was recorded.
pub(crate) struct Said<'a> {
    pub(crate) line: u64,
    pub(crate) op: u64,
    pub(crate) answer: &'a Answer,
}

/// Notes that the server told of an expired lease.
pub(crate) fn expire(world: &mut World, line: u64, lease: &Lease, at: i64) {
    let task = world.task_no(&lease.task);
    let (attempt, at) = (lease.attempt, Some(at));
    world[task].facts.push(Fact { done: Done::Expired, attempt, line, at, delay: None });
}

/// Notes that a task was handed out by a claim that was asked for at `since`.
fn handed_out(world: &mut World, verdict: &mut Verdict, (task, fact): (TaskNo, Fact), since: u64) {
    i03_attempts::handed_out(&world[task], verdict, &fact);
    i05_fence::handed_out(world, verdict, (task, &fact));
    i06_final::handed_out(world, verdict, (task, &fact), since);
    i09_dag::handed_out(world, verdict, (task, &fact));
    let known = &mut world[task];
    if fact.attempt >= known.newest.0 {
        known.newest = (fact.attempt, fact.line, fact.at);
    }
    known.facts.push(fact);
}

fn fenced(world: &mut World, task: &str, attempt: u32) -> Fenced {
    let task = world.task_no(task);
    let (newest, line, _) = world[task].newest;
    Fenced { task, attempt, newest: (newest, line) }
}

fn plain(done: Done, line: u64, at: Option<i64>) -> Fact {
    Fact { done, attempt: 0, line, at, delay: None }
}
