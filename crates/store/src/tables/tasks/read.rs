//! Looking at tasks.

use godel_model::{
    Attempt, AttemptEnd, Lane, Task, TaskId, TaskPriority, TaskState, WorkerId, from_micros,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Tasks, count, rows, state, task};
use crate::Result;
use crate::statement::{Param, Row, statements};

/// The columns of a task and of the one place where it is.
macro_rules! found {
    ($from:literal, $rest:literal) => {
        concat!(
            "SELECT t.id, t.asked, t.created_at, t.person,
                    r.at, r.tier, r.attempt, r.last,
                    d.due_at, d.tier, d.attempt, d.last,
                    b.waits, b.tier, b.attempt, b.last,
                    l.worker, l.started_at, l.tier, l.attempt, l.last, l.progress, l.cancel, l.ends_at,
                    o.state, o.at, o.tier, o.attempt, o.worker, o.started_at, o.result, o.error,
                    o.because, t.lane
             FROM ",
            $from,
            " LEFT JOIN ready r ON r.tenant = t.tenant AND r.task = t.id
              LEFT JOIN delayed d ON d.tenant = t.tenant AND d.task = t.id
              LEFT JOIN blocked b ON b.tenant = t.tenant AND b.task = t.id
              LEFT JOIN lease l ON l.tenant = t.tenant AND l.task = t.id
              LEFT JOIN outcome o ON o.tenant = t.tenant AND o.task = t.id ",
            $rest
        )
    };
}

statements! {
    FOUND = "task_found": found!("task t", "WHERE t.tenant = $1 AND t.id = $2");
    PAGE = "task_page": found!("task t",
        "WHERE t.tenant = $1 AND t.id < $2
           AND ($3 = '' OR t.lane = $4 OR substr(t.lane, 1, length($5) + 1) = $6 || ' ')
         ORDER BY t.id DESC LIMIT $7");
    OF_OWNER = "task_of_owner": found!("task t",
        "WHERE t.tenant = $1 AND t.owner_kind = $2 AND t.owner = $3 AND t.id < $4
         ORDER BY t.id DESC LIMIT $5");
    IN_READY = "task_in_ready":
        "SELECT task FROM ready WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
         ORDER BY task DESC LIMIT $7";
    IN_DELAYED = "task_in_delayed":
        "SELECT task FROM delayed WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
         ORDER BY task DESC LIMIT $7";
    IN_BLOCKED = "task_in_blocked":
        "SELECT task FROM blocked WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
         ORDER BY task DESC LIMIT $7";
    IN_LEASE = "task_in_lease":
        "SELECT task FROM lease WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
         ORDER BY task DESC LIMIT $7";
    IN_DONE = "task_in_done":
        "SELECT task FROM outcome WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
           AND state = 'succeeded'
         ORDER BY task DESC LIMIT $7";
    IN_DEAD = "task_in_dead":
        "SELECT task FROM outcome WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
           AND state = 'dead' AND state <> 'succeeded'
         ORDER BY task DESC LIMIT $7";
    IN_CANCELLED = "task_in_cancelled":
        "SELECT task FROM outcome WHERE tenant = $1 AND task < $2
           AND ($3 = '' OR lane = $4 OR substr(lane, 1, length($5) + 1) = $6 || ' ')
           AND state = 'cancelled' AND state <> 'succeeded'
         ORDER BY task DESC LIMIT $7";
    DEPTH = "queue_depth":
        "SELECT lane, 'ready', tier, COUNT(*), MIN(at) FROM ready WHERE tenant = $1
         GROUP BY lane, tier
         UNION ALL SELECT lane, 'delayed', tier, COUNT(*), MIN(due_at) FROM delayed
         WHERE tenant = $2 GROUP BY lane, tier
         UNION ALL SELECT lane, 'blocked', tier, COUNT(*), NULL FROM blocked
         WHERE tenant = $3 GROUP BY lane, tier
         UNION ALL SELECT lane, 'running', tier, COUNT(*), MIN(started_at) FROM lease
         WHERE tenant = $4 GROUP BY lane, tier
         UNION ALL SELECT lane, 'dead', tier, COUNT(*), MIN(at) FROM outcome
         WHERE tenant = $5 AND state = 'dead' AND state <> 'succeeded' GROUP BY lane, tier";
    LOADS = "worker_loads":
        "SELECT worker, COUNT(*) FROM lease WHERE tenant = $1 GROUP BY worker";
}

/// Which tasks are listed.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only those in this place.
    pub state: Option<TaskState>,
    /// Only those of this pool.
    pub pool: Option<String>,
    /// Only those of this thing: its kind and its id.
    pub owner: Option<(String, String)>,
}

/// A task and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What was asked for.
    pub task: Task,
    /// Its line when it was made.
    pub lane: Lane,
    /// Where it is.
    pub state: TaskState,
    /// How urgent it is by now.
    pub priority: TaskPriority,
    /// The last attempt that was begun.
    pub attempt: u32,
    /// The last attempt that is allowed; none once it is over.
    pub last: Option<u32>,
    /// Since when it is ready, or when it will be.
    pub ready_at: Option<Timestamp>,
    /// For how many others it waits.
    pub waits_for: u32,
    /// Who has it, or had it.
    pub worker: Option<WorkerId>,
    /// When the present or last attempt began.
    pub started_at: Option<Timestamp>,
    /// Until when the present attempt may take.
    pub ends_at: Option<Timestamp>,
    /// What the worker last told.
    pub progress: Option<String>,
    /// Why it is to be stopped.
    pub stopping: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    pub result: Option<String>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// Which other task's end is the reason.
    pub because: Option<TaskId>,
}

/// How many tasks of a line and a tier are in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depth {
    /// The line.
    pub lane: Lane,
    /// The place.
    pub state: TaskState,
    /// How urgent they are.
    pub priority: TaskPriority,
    /// How many.
    pub count: u64,
    /// Since when the oldest is there; for delayed ones, when the first is due.
    pub oldest: Option<Timestamp>,
}

impl Tasks<'_, '_> {
    /// Finds a task and where it is.
    ///
    /// # Errors
    /// If the database fails.
    pub fn find(&mut self, id: TaskId) -> Result<Option<Found>> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&FOUND, &params, found)
    }

    /// Lists tasks before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(
        &mut self,
        filter: &TaskFilter,
        before: Option<TaskId>,
        limit: usize,
    ) -> Result<Vec<Found>> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let before = Param::Uuid(before.map_or(Uuid::max(), TaskId::uuid));
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        if let Some((kind, id)) = &filter.owner {
            let params = [own, Param::Text(kind), Param::Text(id), before, limit];
            let mut tasks = self.tx.conn.query(&OF_OWNER, &params, found)?;
            tasks.retain(|task| filter.state.is_none_or(|state| state == task.state));
            return Ok(tasks);
        }
        let pool = Param::Text(filter.pool.as_deref().unwrap_or_default());
        let params = [own, before, pool, pool, pool, pool, limit];
        let statement = match filter.state {
            None => return self.tx.conn.query(&PAGE, &params, found),
            Some(TaskState::Ready) => &IN_READY,
            Some(TaskState::Delayed) => &IN_DELAYED,
            Some(TaskState::Blocked) => &IN_BLOCKED,
            Some(TaskState::Running) => &IN_LEASE,
            Some(TaskState::Succeeded) => &IN_DONE,
            Some(TaskState::Dead) => &IN_DEAD,
            Some(TaskState::Cancelled) => &IN_CANCELLED,
        };
        let ids =
            self.tx.conn.query(statement, &params, |row| Ok(TaskId::from_uuid(row.uuid(0)?)))?;
        let mut tasks = Vec::with_capacity(ids.len());
        for id in ids {
            tasks.extend(self.find(id)?);
        }
        Ok(tasks)
    }

    /// Lists the attempts of a task that did not succeed, the first one first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn attempts(&mut self, id: TaskId) -> Result<Vec<Attempt>> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.query(&rows::ATTEMPTS, &params, |row| {
            let ended = (from_micros(row.int(3)?), AttemptEnd::from_stored(&row.text(4)?));
            Ok(Attempt {
                number: count(row.int(0)?),
                worker: WorkerId::from_uuid(row.uuid(1)?),
                started_at: from_micros(row.int(2)?),
                ended: Some(ended),
                error: row.opt_text(5)?.filter(|error| !error.is_empty()),
            })
        })
    }

    /// Counts what is in the queue.
    ///
    /// # Errors
    /// If the database fails.
    pub fn depth(&mut self) -> Result<Vec<Depth>> {
        let own = Param::Uuid(self.tenant()?.uuid());
        self.tx.conn.query(&DEPTH, &[own; 5], |row| {
            Ok(Depth {
                lane: Lane::from_stored(row.text(0)?),
                state: state(&row.text(1)?)?,
                priority: TaskPriority::from_tier(row.int(2)?),
                count: u64::try_from(row.int(3)?).unwrap_or(0),
                oldest: row.opt_int(4)?.map(from_micros),
            })
        })
    }

    /// Counts what each worker has in its hands.
    ///
    /// # Errors
    /// If the database fails.
    pub fn loads(&mut self) -> Result<Vec<(WorkerId, u32)>> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let load = |row: &Row<'_>| Ok((WorkerId::from_uuid(row.uuid(0)?), count(row.int(1)?)));
        self.tx.conn.query(&LOADS, &[own], load)
    }

    /// Lists the tasks that a task waits for.
    ///
    /// # Errors
    /// If the database fails.
    pub fn parents(&mut self, id: TaskId) -> Result<Vec<TaskId>> {
        let tenant = self.tenant()?;
        rows::Rows { conn: &mut self.tx.conn, tenant }.ids(&rows::PARENTS, id)
    }
}

fn found(row: &Row<'_>) -> Result<Found> {
    let id = TaskId::from_uuid(row.uuid(0)?);
    let task = task(id, &row.text(1)?, (row.int(2)?, row.opt_uuid(3)?))?;
    let time = |column| Ok::<_, crate::Error>(row.opt_int(column)?.map(from_micros));
    let (state, at) = if row.opt_int(4)?.is_some() {
        (TaskState::Ready, 5)
    } else if row.opt_int(8)?.is_some() {
        (TaskState::Delayed, 9)
    } else if row.opt_int(12)?.is_some() {
        (TaskState::Blocked, 13)
    } else if row.opt_uuid(16)?.is_some() {
        (TaskState::Running, 18)
    } else {
        (state(&row.text(24)?)?, 26)
    };
    let last = if state.is_final() { None } else { row.opt_int(at + 2)?.map(count) };
    let worker = row.opt_uuid(16)?.or(row.opt_uuid(28)?);
    Ok(Found {
        task,
        lane: Lane::from_stored(row.text(33)?),
        state,
        priority: TaskPriority::from_tier(row.int(at)?),
        attempt: count(row.int(at + 1)?),
        last,
        ready_at: time(4)?.or(time(8)?),
        waits_for: row.opt_int(12)?.map_or(0, count),
        worker: worker.map(WorkerId::from_uuid),
        started_at: time(17)?.or(time(29)?),
        ends_at: time(23)?,
        progress: row.opt_text(21)?,
        stopping: row.opt_text(22)?,
        ended_at: time(25)?,
        result: row.opt_text(30)?,
        error: row.opt_text(31)?.filter(|error| !error.is_empty()),
        because: row.opt_uuid(32)?.map(TaskId::from_uuid),
    })
}
