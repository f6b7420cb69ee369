//! What workers say of their tasks.

use godel_model::{AttemptEnd, TaskId, TaskState, WorkerId, from_micros, micros};
use jiff::Timestamp;

use super::rows::{self, Rows};
use super::{Closing, Done, Ending, Fence, Lease, Settled, Spot, Tasks, hot};
use crate::Result;
use crate::statement::{Conn, Param};

/// What became of a task whose attempt did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It is tried again at a time.
    Again(Timestamp),
    /// It was tried as often as allowed.
    Dead,
    /// It was to be stopped anyway.
    Cancelled,
}

impl Tasks<'_, '_> {
    /// Settles tasks that were done; `None` for those that are not in that worker's hands any more.
    ///
    /// # Errors
    /// If the database fails.
    pub fn succeed(&mut self, batch: &[Done], now: Timestamp) -> Result<Vec<Option<Settled>>> {
        let tenant = self.tenant()?;
        if let Conn::Postgres(session) = &mut self.tx.conn {
            return hot::succeed(session, tenant, batch, now);
        }
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        batch.iter().map(|done| rows.succeed(done, now)).collect()
    }

    /// Ends an attempt that did not succeed: the task is tried again, or is over.
    ///
    /// `pause` is how long it waits before the next attempt. `None` if the task is not in that
    /// worker's hands any more.
    ///
    /// # Errors
    /// If the database fails.
    pub fn fail(
        &mut self,
        fence: Fence,
        ending: Ending<'_>,
        pause: impl FnOnce(&Lease) -> Timestamp,
    ) -> Result<Option<(Lease, Next)>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let Some(lease) = rows.take_lease(fence)? else { return Ok(None) };
        let stopped = lease.cancel.as_deref();
        let how = if stopped.is_some() { AttemptEnd::Cancelled } else { ending.how };
        rows.note_attempt(&lease, Ending { how, ..ending })?;
        let closing = |state, error| Closing { state, error, because: None, at: ending.at };
        let next = if let Some(why) = stopped {
            rows.close(&lease.spot, Some(&lease), closing(TaskState::Cancelled, why))?;
            Next::Cancelled
        } else if ending.how == AttemptEnd::Released {
            // What was not begun does not count.
            let spot = Spot { last: lease.spot.last + 1, ..lease.spot.clone() };
            rows.put_ready(&spot, ending.at)?;
            Next::Again(ending.at)
        } else if ending.fatal || lease.spot.attempt >= lease.spot.last {
            rows.close(&lease.spot, Some(&lease), closing(TaskState::Dead, ending.error))?;
            Next::Dead
        } else {
            let due = pause(&lease);
            rows.put_waiting(&lease.spot, Some(due), ending.at)?;
            Next::Again(due)
        };
        Ok(Some((lease, next)))
    }

    /// Notes how far a task is; `None` if it is not in that worker's hands any more.
    ///
    /// # Errors
    /// If the database fails.
    pub fn progress(&mut self, fence: Fence, text: &str) -> Result<Option<Lease>> {
        let params = [
            Param::Text(text),
            Param::Uuid(self.tenant()?.uuid()),
            Param::Uuid(fence.task.uuid()),
            Param::Int(fence.attempt.into()),
            Param::Uuid(fence.worker.uuid()),
        ];
        let found = self.tx.conn.change(&rows::LEASE_PROGRESS, &params, rows::lease)?;
        Ok(found.into_iter().next())
    }

    /// Lists what a worker has in its hands.
    ///
    /// # Errors
    /// If the database fails.
    pub fn held_by(&mut self, worker: WorkerId) -> Result<Vec<Lease>> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Uuid(worker.uuid())];
        self.tx.conn.query(&rows::LEASES_OF_WORKER, &params, rows::lease)
    }

    /// Tells whether a worker has a task, and keeps it there for this transaction.
    ///
    /// # Errors
    /// If the database fails.
    pub fn hold(&mut self, fence: Fence) -> Result<bool> {
        let params = [
            Param::Uuid(self.tenant()?.uuid()),
            Param::Uuid(fence.task.uuid()),
            Param::Int(fence.attempt.into()),
            Param::Uuid(fence.worker.uuid()),
        ];
        Ok(self.tx.conn.execute(&rows::LEASE_HOLD, &params)? == 1)
    }

    /// Returns the task in a worker's hands.
    ///
    /// # Errors
    /// If the database fails.
    pub fn lease(&mut self, task: TaskId) -> Result<Option<Lease>> {
        let tenant = self.tenant()?;
        Rows { conn: &mut self.tx.conn, tenant }.lease(task)
    }

    /// Asks for a running task to be stopped, by a time at the latest; `false` if it does not run,
    /// or was asked before.
    ///
    /// # Errors
    /// If the database fails.
    pub fn ask_to_stop(&mut self, task: TaskId, why: &str, until: Timestamp) -> Result<bool> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let until = Param::Int(micros(until));
        let params = [Param::Text(why), until, until, own, Param::Uuid(task.uuid())];
        Ok(self.tx.conn.execute(&rows::LEASE_CANCEL, &params)? == 1)
    }
}

impl Rows<'_, '_> {
    /// Settles one task that was done, on SQLite: with one writer a look before is as safe as a
    /// condition, and cheaper than what a delete would return.
    fn succeed(&mut self, done: &Done, now: Timestamp) -> Result<Option<Settled>> {
        let Fence { task, attempt, worker } = done.fence;
        let (own, id) = (Param::Uuid(self.tenant.uuid()), Param::Uuid(task.uuid()));
        let found = self.conn.first(&rows::LEASE_AND_KIN, &[own, id], |row| {
            let spot = rows::spot(row)?;
            let started_at = from_micros(row.int(6)?);
            let has_children = row.int(8)? == 1;
            let settled = Settled { spot, started_at, has_children };
            Ok((settled, WorkerId::from_uuid(row.uuid(5)?), row.int(7)? == 1))
        })?;
        let Some((settled, holder, owned)) = found else { return Ok(None) };
        if settled.spot.attempt != attempt || holder != worker {
            return Ok(None);
        }
        self.conn.execute(&rows::LEASE_DELETE, &[own, id])?;
        let params = [
            own,
            id,
            Param::Text(TaskState::Succeeded.as_str()),
            Param::Text(settled.spot.lane.as_str()),
            Param::Int(settled.spot.priority.tier()),
            Param::Int(attempt.into()),
            Param::Uuid(worker.uuid()),
            Param::Int(micros(settled.started_at)),
            Param::Int(micros(now)),
            Param::from(done.result.as_ref().map(godel_model::Payload::as_str)),
            Param::Null,
            Param::Null,
        ];
        self.conn.execute(&rows::OUTCOME_INSERT, &params)?;
        if owned {
            self.leave_word(task, TaskState::Succeeded, now)?;
        }
        Ok(Some(settled))
    }
}
