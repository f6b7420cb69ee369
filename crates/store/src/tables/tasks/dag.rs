//! Tasks that wait for other tasks.

use godel_model::{Lane, TaskId, TaskPriority, TaskState, from_micros, micros};
use jiff::Timestamp;

use super::rows::{self, Rows};
use super::{Closing, Spot, Tasks, asked, count, state};
use crate::Result;
use crate::statement::Param;

impl Tasks<'_, '_> {
    /// Lets the children of a task that succeeded wait for one less; returns those that wait for
    /// nothing any more, and where they are now.
    ///
    /// # Errors
    /// If the database fails.
    pub fn unblock(&mut self, parent: TaskId, now: Timestamp) -> Result<Vec<(Spot, TaskState)>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let mut freed = Vec::new();
        for child in rows.ids(&rows::CHILDREN, parent)? {
            let params = [Param::Uuid(tenant.uuid()), Param::Uuid(child.uuid())];
            let waits = rows.conn.change(&rows::BLOCKED_LESS, &params, |row| row.int(0))?;
            if waits.first().is_some_and(|waits| *waits <= 0) {
                freed.extend(rows.free(child, now)?);
            }
        }
        Ok(freed)
    }

    /// Ends a task that waits; `None` if it does not wait.
    ///
    /// # Errors
    /// If the database fails.
    pub fn close_waiting(&mut self, task: TaskId, closing: Closing<'_>) -> Result<Option<Spot>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let Some((spot, _)) = rows.take_waiting(task)? else { return Ok(None) };
        rows.close(&spot, None, closing)?;
        Ok(Some(spot))
    }

    /// Cancels everything that waits for a task which will not succeed; returns what was cancelled.
    ///
    /// # Errors
    /// If the database fails.
    pub fn cancel_descendants(&mut self, task: TaskId, now: Timestamp) -> Result<Vec<Spot>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let (mut ended, mut gone) = (vec![task], Vec::new());
        while let Some(parent) = ended.pop() {
            let why = format!("task {parent}, which it waited for, did not succeed");
            for child in rows.ids(&rows::CHILDREN, parent)? {
                let Some((spot, _)) = rows.take_waiting(child)? else { continue };
                let because = Some(parent);
                let state = TaskState::Cancelled;
                rows.close(&spot, None, Closing { state, error: &why, because, at: now })?;
                ended.push(child);
                gone.push(spot);
            }
        }
        Ok(gone)
    }

    /// Raises everything that a task waits for to its urgency; returns what was raised.
    ///
    /// # Errors
    /// If the database fails.
    pub fn raise_ancestors(&mut self, task: TaskId, priority: TaskPriority) -> Result<Vec<Spot>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let (mut below, mut raised) = (vec![task], Vec::new());
        while let Some(child) = below.pop() {
            for parent in rows.ids(&rows::PARENTS, child)? {
                // What is already as urgent had everything behind it raised when it came.
                if let Some(spot) = rows.raise(parent, priority)? {
                    raised.push(spot);
                    below.push(parent);
                }
            }
        }
        Ok(raised)
    }

    /// Puts a task that is over back where it can be had, with as many attempts as at first;
    /// `None` if it is not in that state. What was cancelled because of it waits for it again.
    ///
    /// # Errors
    /// If the database fails.
    pub fn revive(
        &mut self,
        task: TaskId,
        from: TaskState,
        now: Timestamp,
    ) -> Result<Option<Vec<(Spot, TaskState)>>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let Some(first) = rows.revive(task, from, now)? else { return Ok(None) };
        let (mut again, mut revived) = (vec![task], vec![first]);
        while let Some(parent) = again.pop() {
            let own = Param::Uuid(tenant.uuid());
            let id = Param::Uuid(parent.uuid());
            let children = rows.conn.query(&rows::OUTCOMES_BECAUSE, &[own, id, id], |row| {
                Ok(TaskId::from_uuid(row.uuid(0)?))
            })?;
            for child in children {
                revived.extend(rows.revive(child, TaskState::Cancelled, now)?);
                again.push(child);
            }
        }
        Ok(Some(revived))
    }
}

impl Rows<'_, '_> {
    /// Lets a task that waits for nothing go where it belongs.
    fn free(&mut self, task: TaskId, now: Timestamp) -> Result<Option<(Spot, TaskState)>> {
        let params = [Param::Uuid(self.tenant.uuid()), Param::Uuid(task.uuid())];
        let taken = self.conn.change(&rows::BLOCKED_TAKE, &params, |row| {
            Ok((rows::spot(row)?, row.opt_int(5)?.map(from_micros)))
        })?;
        let Some((spot, start_at)) = taken.into_iter().next() else { return Ok(None) };
        let state = self.put_waiting(&spot, start_at, now)?;
        Ok(Some((spot, state)))
    }

    /// Makes a task more urgent; `None` if it is over, or is as urgent already.
    pub(super) fn raise(&mut self, task: TaskId, priority: TaskPriority) -> Result<Option<Spot>> {
        let (own, id) = (Param::Uuid(self.tenant.uuid()), Param::Uuid(task.uuid()));
        let tier = Param::Int(priority.tier());
        for statement in
            [&rows::RAISE_READY, &rows::RAISE_DELAYED, &rows::RAISE_BLOCKED, &rows::RAISE_LEASE]
        {
            let raised = self.conn.change(statement, &[tier, own, id, tier], rows::spot)?;
            if let Some(spot) = raised.into_iter().next() {
                return Ok(Some(spot));
            }
        }
        Ok(None)
    }

    fn revive(
        &mut self,
        task: TaskId,
        from: TaskState,
        now: Timestamp,
    ) -> Result<Option<(Spot, TaskState)>> {
        let (own, id) = (Param::Uuid(self.tenant.uuid()), Param::Uuid(task.uuid()));
        let Some(asked) =
            self.conn.first(&rows::TASK_BY_ID, &[own, id], |row| asked(&row.text(0)?))?
        else {
            return Ok(None);
        };
        let params = [own, id, Param::Text(from.as_str())];
        let taken = self.conn.change(&rows::OUTCOME_TAKE, &params, |row| {
            let attempt = count(row.int(3)?);
            let stored = Lane::from_stored(row.text(1)?);
            // If one worker alone was to do it, that may be gone by now.
            let lane = Lane::new(&asked.pool, &asked.requires).unwrap_or(stored);
            Ok(Spot {
                task,
                lane,
                priority: TaskPriority::from_tier(row.int(2)?),
                attempt,
                last: attempt + asked.retry.max_attempts,
            })
        })?;
        let Some(spot) = taken.into_iter().next() else { return Ok(None) };
        let mut waits = 0;
        for parent in self.ids(&rows::PARENTS, task)? {
            let params = [own, Param::Uuid(parent.uuid())];
            let ended =
                self.conn.first(&rows::OUTCOME_STATE, &params, |row| state(&row.text(0)?))?;
            waits += usize::from(ended != Some(TaskState::Succeeded));
        }
        self.drop_deadline(task)?;
        if let Some(deadline) = asked.deadline.filter(|deadline| *deadline > now) {
            let params = [own, Param::Int(micros(deadline)), id];
            self.conn.execute(&rows::DEADLINE_INSERT, &params)?;
        }
        if waits > 0 {
            self.put_blocked(&spot, waits, asked.start_at)?;
            return Ok(Some((spot, TaskState::Blocked)));
        }
        let state = self.put_waiting(&spot, asked.start_at, now)?;
        Ok(Some((spot, state)))
    }
}
