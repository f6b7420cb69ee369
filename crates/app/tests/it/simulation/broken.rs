//! Queues that are broken on purpose: the simulation must notice each of them.

use std::path::Path;

use godel_app::queue::{Author, Given, Said, Say};
use godel_model::{Clock as _, TaskId};
use godel_store::{Fence, Scope};
use rusqlite::Connection;

use super::sim::Hand;
use super::stage::Stage;

/// How a queue is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// Whoever speaks of a task is taken for the one who has it.
    SkipsTheFence,
    /// A claim gets the least urgent task.
    TakesTheLast,
    /// A task that was accepted is nowhere at the end.
    LosesATask,
    /// A task is in two places.
    DoublesATask,
    /// An event is missing.
    LosesAnEvent,
    /// A commit that was answered did not reach the disk.
    LosesACommit,
    /// An attempt is not counted.
    CountsNoAttempt,
    /// What waits for its time does not.
    IsImpatient,
}

fn change(db: &Connection, statements: &str) {
    db.execute_batch(statements).unwrap();
}

impl Broken {
    /// Does harm to the files of a server that has just been killed.
    pub(super) fn at_restart(self, file: &Path) {
        if self == Self::LosesACommit {
            change(
                &Connection::open(file).unwrap(),
                "CREATE TEMP TABLE lost AS SELECT tenant, task FROM outcome
                     WHERE state = 'succeeded' ORDER BY at DESC LIMIT 1;
                 INSERT INTO lease (tenant, task, attempt, last, lane, tier, worker, started_at)
                     SELECT o.tenant, o.task, o.attempt, o.attempt + 1, o.lane, o.tier, o.worker,
                         o.started_at FROM outcome o JOIN lost l ON l.task = o.task;
                 DELETE FROM outcome WHERE task IN (SELECT task FROM lost);
                 UPDATE event SET kind = 'test:lost' WHERE kind = 'task:succeeded'
                     AND hex((SELECT task FROM lost)) =
                         upper(replace(json_extract(payload, '$.task'), '-', ''));",
            );
        }
    }

    /// Does harm to the tables before the next look at them.
    pub(super) fn before_look(self, db: &Connection) {
        match self {
            Self::CountsNoAttempt => {
                change(db, "UPDATE ready SET attempt = attempt - 1 WHERE attempt > 0");
            }
            Self::IsImpatient => change(db, "UPDATE delayed SET due_at = 0"),
            _ => {}
        }
    }

    /// Does harm to the tables at the very end.
    pub(super) fn at_end(self, db: &Connection) {
        match self {
            Self::LosesATask => change(
                db,
                "DELETE FROM outcome WHERE task = (SELECT MAX(task) FROM outcome);
                 DELETE FROM ready WHERE task = (SELECT MAX(task) FROM ready)",
            ),
            Self::DoublesATask => change(
                db,
                "INSERT INTO ready (tenant, lane, tier, at, task, attempt, last)
                     SELECT tenant, lane, tier, at, task, attempt, attempt + 1 FROM outcome LIMIT 1",
            ),
            Self::LosesAnEvent => change(
                db,
                "DELETE FROM event WHERE seq = (SELECT MAX(seq) FROM event WHERE kind = 'task:started')",
            ),
            _ => {}
        }
    }
}

/// Hears somebody who does not have a task as if it were the one who has it.
pub(super) async fn accept_anyway(stage: &Stage, task: TaskId, say: Say) -> Option<Said> {
    let find = stage.app.store.read(Scope::Tenant(stage.tenant), move |tx| tx.tasks().lease(task));
    let lease = find.await.unwrap()?;
    let fence = Fence { task, attempt: lease.spot.attempt, worker: lease.worker };
    let desk = stage.app.desks.of(stage.tenant);
    desk.say(fence, say, Author::default()).await.ok()
}

/// Hands out the least urgent of all that a worker could have, and tells nobody.
pub(super) async fn take_the_last(stage: &Stage, hand: &Hand) -> Vec<Given> {
    let (now, worker, pool) = (stage.clock.now(), hand.id, hand.pool.clone());
    let able = hand.able.clone();
    let work = move |tx: &mut godel_store::Tx<'_>| {
        let (_, lanes) = tx.tasks().pool(&pool)?;
        let open: Vec<_> = lanes.iter().filter(|lane| lane.is_open_to(&able)).collect();
        let Some(head) = tx.tasks().heads(&open, 1_000)?.pop() else { return Ok(Vec::new()) };
        let (asked, created_at) = (head.asked.clone(), head.created_at);
        let leases = tx.tasks().hand_out(&[(head, worker)], now)?;
        let given =
            leases.into_iter().map(|lease| Given { lease, asked: asked.clone(), created_at });
        Ok::<_, godel_store::Error>(given.collect())
    };
    stage.app.store.write(Scope::Tenant(stage.tenant), work).await.unwrap().value
}
