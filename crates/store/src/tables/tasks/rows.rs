//! The rows of the queue one by one: what is rare, and all of SQLite.

use godel_model::{Lane, TaskId, TaskPriority, TaskState, TenantId, WorkerId, from_micros, micros};
use jiff::Timestamp;

use super::{Closing, Ending, Fence, Lease, Spot, count};
use crate::Result;
use crate::statement::{Conn, Param, Row, statements};

statements! {
    TASK_INSERT = "task_insert":
        "INSERT INTO task (tenant, id, lane, tier, asked, idem, owner_kind, owner, owner_part,
                           person, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (tenant, idem) WHERE idem IS NOT NULL DO NOTHING";
    TASK_BY_IDEM = "task_by_idem": "SELECT id FROM task WHERE tenant = $1 AND idem = $2";
    TASK_EXISTS = "task_exists": "SELECT 1 FROM task WHERE tenant = $1 AND id = $2";
    TASK_IS_OWNED = "task_is_owned":
        "SELECT 1 FROM task WHERE tenant = $1 AND id = $2 AND owner IS NOT NULL";
    LEASE_AND_KIN = "lease_and_kin":
        "SELECT l.task, l.lane, l.tier, l.attempt, l.last, l.worker, l.started_at,
                CASE WHEN t.owner IS NULL THEN 0 ELSE 1 END,
                CASE WHEN EXISTS (SELECT 1 FROM dependency d
                                  WHERE d.tenant = l.tenant AND d.parent = l.task) THEN 1 ELSE 0 END
         FROM lease l JOIN task t ON t.tenant = l.tenant AND t.id = l.task
         WHERE l.tenant = $1 AND l.task = $2";
    TASK_BY_ID = "task_by_id":
        "SELECT asked, created_at, person FROM task WHERE tenant = $1 AND id = $2";
    LANE_DELETE = "lane_delete": "DELETE FROM lane WHERE tenant = $1 AND pool = $2 AND name = $3";
    READY_INSERT = "ready_insert":
        "INSERT INTO ready (tenant, lane, tier, at, task, attempt, last)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    READY_TAKE = "ready_take":
        "DELETE FROM ready WHERE tenant = $1 AND task = $2
         RETURNING task, lane, tier, attempt, last";
    READY_DELETE = "ready_delete":
        "DELETE FROM ready WHERE tenant = $1 AND lane = $2 AND tier = $3 AND at = $4 AND task = $5";
    READY_GIVE = "ready_give":
        "UPDATE ready SET lane = $1 WHERE tenant = $2 AND task = $3
         RETURNING task, lane, tier, attempt, last";
    READY_HOME = "ready_home":
        "UPDATE ready SET lane = (SELECT t.lane FROM task t
                                  WHERE t.tenant = ready.tenant AND t.id = ready.task)
         WHERE tenant = $1 AND lane = $2 RETURNING task, lane, tier, attempt, last";
    READY_AGED = "ready_aged":
        "SELECT task, lane, tier, attempt, last, at FROM ready
         WHERE tenant = $1 AND lane = $2 AND tier = $3 AND at <= $4 ORDER BY at, task LIMIT $5";
    DELAYED_INSERT = "delayed_insert":
        "INSERT INTO delayed (tenant, task, due_at, lane, tier, attempt, last)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    DELAYED_TAKE = "delayed_take":
        "DELETE FROM delayed WHERE tenant = $1 AND task = $2
         RETURNING task, lane, tier, attempt, last";
    DELAYED_GIVE = "delayed_give":
        "UPDATE delayed SET lane = $1 WHERE tenant = $2 AND task = $3
         RETURNING task, lane, tier, attempt, last";
    DELAYED_HOME = "delayed_home":
        "UPDATE delayed SET lane = (SELECT t.lane FROM task t
                                    WHERE t.tenant = delayed.tenant AND t.id = delayed.task)
         WHERE tenant = $1 AND lane = $2 RETURNING task, lane, tier, attempt, last";
    BLOCKED_INSERT = "blocked_insert":
        "INSERT INTO blocked (tenant, task, lane, tier, attempt, last, waits, start_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    BLOCKED_TAKE = "blocked_take":
        "DELETE FROM blocked WHERE tenant = $1 AND task = $2
         RETURNING task, lane, tier, attempt, last, start_at";
    BLOCKED_LESS = "blocked_less":
        "UPDATE blocked SET waits = waits - 1 WHERE tenant = $1 AND task = $2 RETURNING waits";
    RAISE_DELAYED = "delayed_raise":
        "UPDATE delayed SET tier = $1 WHERE tenant = $2 AND task = $3 AND tier > $4
         RETURNING task, lane, tier, attempt, last";
    RAISE_BLOCKED = "blocked_raise":
        "UPDATE blocked SET tier = $1 WHERE tenant = $2 AND task = $3 AND tier > $4
         RETURNING task, lane, tier, attempt, last";
    RAISE_LEASE = "lease_raise":
        "UPDATE lease SET tier = $1 WHERE tenant = $2 AND task = $3 AND tier > $4
         RETURNING task, lane, tier, attempt, last";
    RAISE_READY = "ready_raise":
        "UPDATE ready SET tier = $1 WHERE tenant = $2 AND task = $3 AND tier > $4
         RETURNING task, lane, tier, attempt, last";
    DEPENDENCY_INSERT = "dependency_insert":
        "INSERT INTO dependency (tenant, parent, child) VALUES ($1, $2, $3)";
    CHILDREN = "dependency_children":
        "SELECT child FROM dependency WHERE tenant = $1 AND parent = $2 ORDER BY child";
    PARENTS = "dependency_parents":
        "SELECT parent FROM dependency WHERE tenant = $1 AND child = $2 ORDER BY parent";
    LEASE_INSERT = "lease_insert":
        "INSERT INTO lease (tenant, task, attempt, last, lane, tier, worker, started_at, ends_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    LEASE_TAKE = "lease_take":
        "DELETE FROM lease WHERE tenant = $1 AND task = $2 AND attempt = $3 AND worker = $4
         RETURNING task, lane, tier, attempt, last, worker, started_at, ends_at, progress, cancel";
    LEASE_DELETE = "lease_delete": "DELETE FROM lease WHERE tenant = $1 AND task = $2";
    LEASE_HOLD = "lease_hold":
        "UPDATE lease SET attempt = attempt
         WHERE tenant = $1 AND task = $2 AND attempt = $3 AND worker = $4";
    LEASE_BY_TASK = "lease_by_task":
        "SELECT task, lane, tier, attempt, last, worker, started_at, ends_at, progress, cancel
         FROM lease WHERE tenant = $1 AND task = $2";
    LEASES_OF_WORKER = "leases_of_worker":
        "SELECT task, lane, tier, attempt, last, worker, started_at, ends_at, progress, cancel
         FROM lease WHERE tenant = $1 AND worker = $2 ORDER BY task";
    LEASES_LATE = "leases_late":
        "SELECT tenant, task, attempt, worker FROM lease
         WHERE ends_at IS NOT NULL AND ends_at <= $1 ORDER BY ends_at LIMIT $2";
    LEASE_PROGRESS = "lease_progress":
        "UPDATE lease SET progress = $1
         WHERE tenant = $2 AND task = $3 AND attempt = $4 AND worker = $5
         RETURNING task, lane, tier, attempt, last, worker, started_at, ends_at, progress, cancel";
    LEASE_CANCEL = "lease_cancel":
        "UPDATE lease SET cancel = $1, ends_at = CASE WHEN ends_at < $2 THEN ends_at ELSE $3 END
         WHERE tenant = $4 AND task = $5 AND cancel IS NULL";
    OUTCOME_INSERT = "outcome_insert":
        "INSERT INTO outcome (tenant, task, state, lane, tier, attempt, worker, started_at, at,
                              result, error, because)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    OUTCOME_STATE = "outcome_state": "SELECT state FROM outcome WHERE tenant = $1 AND task = $2";
    OUTCOME_TAKE = "outcome_take":
        "DELETE FROM outcome WHERE tenant = $1 AND task = $2 AND state = $3
         RETURNING task, lane, tier, attempt";
    OUTCOMES_BECAUSE = "outcome_because":
        "SELECT o.task FROM dependency d JOIN outcome o ON o.tenant = d.tenant AND o.task = d.child
         WHERE d.tenant = $1 AND d.parent = $2 AND o.state = 'cancelled' AND o.because = $3
         ORDER BY o.task";
    ATTEMPT_INSERT = "attempt_insert":
        "INSERT INTO attempt (tenant, task, number, worker, started_at, ended_at, ending, error)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    ATTEMPTS = "attempt_list":
        "SELECT number, worker, started_at, ended_at, ending, error FROM attempt
         WHERE tenant = $1 AND task = $2 ORDER BY number";
    DEADLINE_INSERT = "task_deadline_insert":
        "INSERT INTO task_deadline (tenant, at, task) VALUES ($1, $2, $3)";
    DEADLINE_DELETE = "task_deadline_delete":
        "DELETE FROM task_deadline WHERE tenant = $1 AND task = $2";
    DEADLINES_DUE = "task_deadline_due":
        "SELECT tenant, task FROM task_deadline WHERE at <= $1 ORDER BY at LIMIT $2";
    NEWS_INSERT = "task_news_insert":
        "INSERT INTO task_news (tenant, task, owner_kind, owner, part, state, at)
         SELECT tenant, id, owner_kind, owner, owner_part, $1, $2 FROM task
         WHERE tenant = $3 AND id = $4 AND owner IS NOT NULL
         ON CONFLICT (tenant, owner_kind, owner, task) DO UPDATE SET state = EXCLUDED.state, at = EXCLUDED.at";
    NEXT_DUE = "delayed_next": "SELECT MIN(due_at) FROM delayed";
}

/// A transaction's connection and the tenant whose rows it touches.
pub(super) struct Rows<'r, 'c> {
    pub(super) conn: &'r mut Conn<'c>,
    pub(super) tenant: TenantId,
}

impl Rows<'_, '_> {
    fn own(&self) -> Param<'static> {
        Param::Uuid(self.tenant.uuid())
    }

    pub(super) fn put_ready(&mut self, spot: &Spot, at: Timestamp) -> Result<()> {
        let params = [
            self.own(),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Int(micros(at)),
            Param::Uuid(spot.task.uuid()),
            Param::Int(spot.attempt.into()),
            Param::Int(spot.last.into()),
        ];
        self.conn.execute(&READY_INSERT, &params).map(drop)
    }

    pub(super) fn put_delayed(&mut self, spot: &Spot, due: Timestamp) -> Result<()> {
        let params = [
            self.own(),
            Param::Uuid(spot.task.uuid()),
            Param::Int(micros(due)),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Int(spot.attempt.into()),
            Param::Int(spot.last.into()),
        ];
        self.conn.execute(&DELAYED_INSERT, &params).map(drop)
    }

    /// Puts a task where it waits for its time, or where it can be had if that has come.
    pub(super) fn put_waiting(
        &mut self,
        spot: &Spot,
        due: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<TaskState> {
        match due {
            Some(due) if due > now => self.put_delayed(spot, due).map(|()| TaskState::Delayed),
            _ => self.put_ready(spot, now).map(|()| TaskState::Ready),
        }
    }

    pub(super) fn put_blocked(
        &mut self,
        spot: &Spot,
        waits: usize,
        start_at: Option<Timestamp>,
    ) -> Result<()> {
        let params = [
            self.own(),
            Param::Uuid(spot.task.uuid()),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Int(spot.attempt.into()),
            Param::Int(spot.last.into()),
            Param::Int(waits as i64),
            start_at.map_or(Param::Null, |at| Param::Int(micros(at))),
        ];
        self.conn.execute(&BLOCKED_INSERT, &params).map(drop)
    }

    pub(super) fn put_lease(&mut self, lease: &Lease) -> Result<()> {
        let spot = &lease.spot;
        let params = [
            self.own(),
            Param::Uuid(spot.task.uuid()),
            Param::Int(spot.attempt.into()),
            Param::Int(spot.last.into()),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Uuid(lease.worker.uuid()),
            Param::Int(micros(lease.started_at)),
            lease.ends_at.map_or(Param::Null, |at| Param::Int(micros(at))),
        ];
        self.conn.execute(&LEASE_INSERT, &params).map(drop)
    }

    /// Takes a task away from where it waits.
    pub(super) fn take_waiting(&mut self, task: TaskId) -> Result<Option<(Spot, TaskState)>> {
        let params = [self.own(), Param::Uuid(task.uuid())];
        for (statement, state) in [
            (&READY_TAKE, TaskState::Ready),
            (&DELAYED_TAKE, TaskState::Delayed),
            (&BLOCKED_TAKE, TaskState::Blocked),
        ] {
            let found = self.conn.change(statement, &params, spot)?;
            if let Some(spot) = found.into_iter().next() {
                return Ok(Some((spot, state)));
            }
        }
        Ok(None)
    }

    /// Takes a task out of its worker's hands, if that is still the one.
    pub(super) fn take_lease(&mut self, fence: Fence) -> Result<Option<Lease>> {
        if let Conn::Sqlite(..) = self.conn {
            // With one writer a look before is as safe, and `RETURNING` would build a table each time.
            let held = self.lease(fence.task)?;
            let held = held.filter(|l| l.spot.attempt == fence.attempt && l.worker == fence.worker);
            if held.is_some() {
                let params = [self.own(), Param::Uuid(fence.task.uuid())];
                self.conn.execute(&LEASE_DELETE, &params)?;
            }
            return Ok(held);
        }
        let params = [
            self.own(),
            Param::Uuid(fence.task.uuid()),
            Param::Int(fence.attempt.into()),
            Param::Uuid(fence.worker.uuid()),
        ];
        Ok(self.conn.change(&LEASE_TAKE, &params, lease)?.into_iter().next())
    }

    pub(super) fn lease(&mut self, task: TaskId) -> Result<Option<Lease>> {
        self.conn.first(&LEASE_BY_TASK, &[self.own(), Param::Uuid(task.uuid())], lease)
    }

    pub(super) fn ids(
        &mut self,
        statement: &'static crate::statement::Statement,
        task: TaskId,
    ) -> Result<Vec<TaskId>> {
        let params = [self.own(), Param::Uuid(task.uuid())];
        self.conn.query(statement, &params, |row| Ok(TaskId::from_uuid(row.uuid(0)?)))
    }

    /// Notes the end of a task that did not succeed.
    pub(super) fn close(
        &mut self,
        spot: &Spot,
        held: Option<&Lease>,
        closing: Closing<'_>,
    ) -> Result<()> {
        let Closing { state, error, because, at } = closing;
        let params = [
            self.own(),
            Param::Uuid(spot.task.uuid()),
            Param::Text(state.as_str()),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Int(spot.attempt.into()),
            held.map_or(Param::Null, |lease| Param::Uuid(lease.worker.uuid())),
            held.map_or(Param::Null, |lease| Param::Int(micros(lease.started_at))),
            Param::Int(micros(at)),
            Param::Null,
            Param::Text(error),
            Param::from(because.map(TaskId::uuid)),
        ];
        self.conn.execute(&OUTCOME_INSERT, &params)?;
        self.tell_owner(spot.task, state, at)
    }

    pub(super) fn drop_deadline(&mut self, task: TaskId) -> Result<()> {
        let params = [self.own(), Param::Uuid(task.uuid())];
        self.conn.execute(&DEADLINE_DELETE, &params).map(drop)
    }

    /// Leaves word for what the task belongs to, if it does.
    pub(super) fn tell_owner(
        &mut self,
        task: TaskId,
        state: TaskState,
        at: Timestamp,
    ) -> Result<()> {
        // Most tasks belong to nothing, and on SQLite a look is cheaper than a write of nothing.
        if let Conn::Sqlite(..) = self.conn {
            let params = [self.own(), Param::Uuid(task.uuid())];
            if self.conn.first(&TASK_IS_OWNED, &params, |_| Ok(()))?.is_none() {
                return Ok(());
            }
        }
        self.leave_word(task, state, at)
    }

    /// Leaves word for what the task belongs to.
    pub(super) fn leave_word(
        &mut self,
        task: TaskId,
        state: TaskState,
        at: Timestamp,
    ) -> Result<()> {
        let params = [
            Param::Text(state.as_str()),
            Param::Int(micros(at)),
            self.own(),
            Param::Uuid(task.uuid()),
        ];
        self.conn.execute(&NEWS_INSERT, &params).map(drop)
    }

    /// Notes how an attempt ended.
    pub(super) fn note_attempt(&mut self, lease: &Lease, ending: Ending<'_>) -> Result<()> {
        let params = [
            self.own(),
            Param::Uuid(lease.spot.task.uuid()),
            Param::Int(lease.spot.attempt.into()),
            Param::Uuid(lease.worker.uuid()),
            Param::Int(micros(lease.started_at)),
            Param::Int(micros(ending.at)),
            Param::Text(ending.how.as_str()),
            Param::Text(ending.error),
        ];
        self.conn.execute(&ATTEMPT_INSERT, &params).map(drop)
    }
}

/// Reads `task, lane, tier, attempt, last`.
pub(super) fn spot(row: &Row<'_>) -> Result<Spot> {
    Ok(Spot {
        task: TaskId::from_uuid(row.uuid(0)?),
        lane: Lane::from_stored(row.text(1)?),
        priority: TaskPriority::from_tier(row.int(2)?),
        attempt: count(row.int(3)?),
        last: count(row.int(4)?),
    })
}

/// Reads a spot and `worker, started_at, ends_at, progress, cancel`.
pub(super) fn lease(row: &Row<'_>) -> Result<Lease> {
    Ok(Lease {
        spot: spot(row)?,
        worker: WorkerId::from_uuid(row.uuid(5)?),
        started_at: from_micros(row.int(6)?),
        ends_at: row.opt_int(7)?.map(from_micros),
        progress: row.opt_text(8)?,
        cancel: row.opt_text(9)?,
    })
}
