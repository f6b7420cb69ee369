//! Adding tasks.

use godel_model::{Lane, Task, TaskId, TaskState, UserId, micros};
use jiff::Timestamp;

use super::rows::{self, Rows};
use super::{Enqueued, Ready, Spot, Tasks, hot, state};
use crate::statement::{Conn, Param};
use crate::tables::lanes;
use crate::{Error, Result};

impl Tasks<'_, '_> {
    /// Adds tasks, each with its line; what cannot be added is told, and hinders no other.
    ///
    /// Those that can be handed out at once go where `ready` says.
    ///
    /// # Errors
    /// If the database fails.
    pub fn enqueue(
        &mut self,
        batch: &[(&Task, &Lane)],
        ready: Ready,
        now: Timestamp,
    ) -> Result<Vec<Enqueued>> {
        let tenant = self.tenant()?;
        if let Conn::Postgres(session) = &mut self.tx.conn
            && batch.iter().all(|(task, _)| is_plain(task, now))
        {
            return hot::enqueue(session, tenant, batch, (ready, now));
        }
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let mut noted: Option<&Lane> = None;
        let mut enqueued = Vec::with_capacity(batch.len());
        for (task, lane) in batch {
            // Most tasks are in the line of the one before.
            if noted != Some(*lane) {
                lanes::note(rows.conn, tenant, lane)?;
                noted = Some(*lane);
            }
            enqueued.push(rows.enqueue(task, lane, (ready, now))?);
        }
        Ok(enqueued)
    }

    /// Puts tasks that were added [`Ready::InHand`] and not handed out into their lines.
    ///
    /// # Errors
    /// If the database fails.
    pub fn line_up(&mut self, spots: &[&Spot], now: Timestamp) -> Result<()> {
        let tenant = self.tenant()?;
        if let Conn::Postgres(session) = &mut self.tx.conn {
            return hot::line_up(session, tenant, spots, now);
        }
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        spots.iter().try_for_each(|spot| rows.put_ready(spot, now))
    }

    /// Finds the task that was made with a key.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_key(&mut self, key: &str) -> Result<Option<TaskId>> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Text(key)];
        self.tx.conn.first(&rows::TASK_BY_IDEM, &params, |row| Ok(TaskId::from_uuid(row.uuid(0)?)))
    }

    /// Adds tasks that others wait for: nobody else changes who waits for whom until the commit.
    ///
    /// # Errors
    /// If the database fails.
    pub fn lock_graph(&mut self, alone: bool) -> Result<()> {
        let tenant = self.tenant()?;
        match &mut self.tx.conn {
            // SQLite has one writer.
            Conn::Sqlite(..) => Ok(()),
            Conn::Postgres(session) => hot::lock_graph(session, tenant, alone),
        }
    }
}

/// Tells whether a task can be handed out at once.
pub(super) fn is_plain(task: &Task, now: Timestamp) -> bool {
    let asked = &task.asked;
    asked.after.is_empty() && asked.deadline.is_none() && asked.start_at.is_none_or(|at| at <= now)
}

/// Returns what goes with a task from its first place on.
pub(super) fn first_spot(task: &Task, lane: &Lane) -> Spot {
    Spot {
        task: task.id,
        lane: lane.clone(),
        priority: task.asked.priority,
        attempt: 0,
        last: task.asked.retry.max_attempts,
    }
}

/// Writes down what was asked for.
pub(super) fn asked_text(task: &Task) -> Result<String> {
    serde_json::to_string(&task.asked)
        .map_err(|cause| Error::Unreadable { what: "task", cause: cause.into() })
}

/// What a parent that is not there any more, or will not succeed, means for a child.
enum Hindrance {
    Missing(TaskId),
    Failed(TaskId),
}

impl Rows<'_, '_> {
    fn enqueue(
        &mut self,
        task: &Task,
        lane: &Lane,
        (ready, now): (Ready, Timestamp),
    ) -> Result<Enqueued> {
        if let Some(known) = self.by_key(task)? {
            return Ok(Enqueued::Known(known));
        }
        let mut parents = task.asked.after.clone();
        parents.sort_unstable();
        parents.dedup();
        let waits = match self.open_parents(&parents)? {
            Ok(waits) => waits,
            Err(Hindrance::Missing(parent)) => return Ok(Enqueued::NoParent(parent)),
            Err(Hindrance::Failed(parent)) => return Ok(Enqueued::ParentFailed(parent)),
        };
        if !self.insert(task, lane)? {
            // Another server was faster.
            let known = self.by_key(task)?.ok_or_else(|| Error::Unavailable(None))?;
            return Ok(Enqueued::Known(known));
        }
        let spot = first_spot(task, lane);
        for parent in &parents {
            let own = Param::Uuid(self.tenant.uuid());
            let params = [own, Param::Uuid(parent.uuid()), Param::Uuid(task.id.uuid())];
            self.conn.execute(&rows::DEPENDENCY_INSERT, &params)?;
        }
        if let Some(deadline) = task.asked.deadline {
            let own = Param::Uuid(self.tenant.uuid());
            let params = [own, Param::Int(micros(deadline)), Param::Uuid(task.id.uuid())];
            self.conn.execute(&rows::DEADLINE_INSERT, &params)?;
        }
        if waits > 0 {
            self.put_blocked(&spot, waits, task.asked.start_at)?;
            return Ok(Enqueued::New(spot, TaskState::Blocked));
        }
        if ready == Ready::InHand && task.asked.start_at.is_none_or(|at| at <= now) {
            return Ok(Enqueued::New(spot, TaskState::Ready));
        }
        let state = self.put_waiting(&spot, task.asked.start_at, now)?;
        Ok(Enqueued::New(spot, state))
    }

    fn by_key(&mut self, task: &Task) -> Result<Option<TaskId>> {
        let Some(key) = &task.asked.key else { return Ok(None) };
        let params = [Param::Uuid(self.tenant.uuid()), Param::Text(key)];
        self.conn.first(&rows::TASK_BY_IDEM, &params, |row| Ok(TaskId::from_uuid(row.uuid(0)?)))
    }

    /// Counts the parents that have not succeeded yet.
    fn open_parents(&mut self, parents: &[TaskId]) -> Result<Result<usize, Hindrance>> {
        let mut open = 0;
        for parent in parents {
            let params = [Param::Uuid(self.tenant.uuid()), Param::Uuid(parent.uuid())];
            let ended =
                self.conn.first(&rows::OUTCOME_STATE, &params, |row| state(&row.text(0)?))?;
            match ended {
                Some(TaskState::Succeeded) => {}
                Some(_) => return Ok(Err(Hindrance::Failed(*parent))),
                None if self.conn.first(&rows::TASK_EXISTS, &params, |_| Ok(()))?.is_none() => {
                    return Ok(Err(Hindrance::Missing(*parent)));
                }
                None => open += 1,
            }
        }
        Ok(Ok(open))
    }

    fn insert(&mut self, task: &Task, lane: &Lane) -> Result<bool> {
        let (text, asked) = (asked_text(task)?, &task.asked);
        let owner = asked.owner.as_ref();
        let params = [
            Param::Uuid(self.tenant.uuid()),
            Param::Uuid(task.id.uuid()),
            Param::Text(lane.as_str()),
            Param::Int(asked.priority.tier()),
            Param::Text(&text),
            Param::from(asked.key.as_deref()),
            Param::from(owner.map(|owner| owner.kind.as_str())),
            Param::from(owner.map(|owner| owner.id.as_str())),
            Param::from(owner.map(|owner| owner.part.as_str())),
            Param::from(task.created_by.map(UserId::uuid)),
            Param::Int(micros(task.created_at)),
        ];
        Ok(self.conn.execute(&rows::TASK_INSERT, &params)? == 1)
    }
}
