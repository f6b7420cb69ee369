//! What time does to tasks.

use godel_model::{Lane, TaskId, TaskPriority, TaskState, TenantId, WorkerId, from_micros, micros};
use jiff::{SignedDuration, Timestamp};

use super::rows::{self, Rows};
use super::{Fence, Spot, Tasks, count, hot};
use crate::Result;
use crate::statement::{Conn, Param, Row, statements};

statements! {
    DUE = "delayed_due":
        "SELECT tenant, task FROM delayed WHERE due_at <= $1 ORDER BY due_at LIMIT $2";
    NEWS = "task_news_owners":
        "SELECT DISTINCT tenant, owner_kind, owner FROM task_news ORDER BY tenant, owner_kind, owner
         LIMIT $1";
    NEWS_OF = "task_news_of":
        "SELECT n.task, n.part, n.state, o.result, o.error
         FROM task_news n LEFT JOIN outcome o ON o.tenant = n.tenant AND o.task = n.task
         WHERE n.tenant = $1 AND n.owner_kind = $2 AND n.owner = $3 ORDER BY n.task LIMIT $4";
    NEWS_DELETE = "task_news_delete":
        "DELETE FROM task_news
         WHERE tenant = $1 AND owner_kind = $2 AND owner = $3 AND task = $4 AND state = $5";
    END_BY = "lease_end_by":
        "UPDATE lease SET ends_at = $1, last = attempt WHERE tenant = $2 AND task = $3";
    SHIFT = "lease_shift": "UPDATE lease SET ends_at = ends_at + $1 WHERE ends_at IS NOT NULL";
    IS_OVER = "task_is_over": "SELECT state, at FROM outcome WHERE tenant = $1 AND task = $2";
}

/// How many tasks of a line rise at once.
const AGED_AT_ONCE: i64 = 500;

/// What became of a task that belongs to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The task.
    pub task: TaskId,
    /// Which part of its owner it is.
    pub part: String,
    /// How it ended.
    pub state: TaskState,
    /// What came of it.
    pub result: Option<String>,
    /// Why it did not succeed.
    pub error: Option<String>,
}

impl Tasks<'_, '_> {
    /// Lists delayed tasks of all tenants whose time has come.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn due(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, TaskId)>> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Int(limit as i64)];
        self.tx.conn.query(&DUE, &params, tenant_and_task)
    }

    /// Tells when the next delayed task of any tenant is due.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn next_due(&mut self) -> Result<Option<Timestamp>> {
        self.tx.system()?;
        let found = self.tx.conn.first(&rows::NEXT_DUE, &[], |row| row.opt_int(0))?;
        Ok(found.flatten().map(from_micros))
    }

    /// Lets delayed tasks be handed out; returns those that were still delayed.
    ///
    /// # Errors
    /// If the database fails.
    pub fn promote(&mut self, tasks: &[TaskId], now: Timestamp) -> Result<Vec<Spot>> {
        let tenant = self.tenant()?;
        if let Conn::Postgres(session) = &mut self.tx.conn {
            return hot::promote(session, tenant, tasks, now);
        }
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let mut promoted = Vec::with_capacity(tasks.len());
        for task in tasks {
            let params = [Param::Uuid(tenant.uuid()), Param::Uuid(task.uuid())];
            for spot in rows.conn.change(&rows::DELAYED_TAKE, &params, rows::spot)? {
                rows.put_ready(&spot, now)?;
                promoted.push(spot);
            }
        }
        Ok(promoted)
    }

    /// Lists attempts of all tenants that took longer than allowed.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn late(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, Fence)>> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Int(limit as i64)];
        self.tx.conn.query(&rows::LEASES_LATE, &params, |row| {
            let fence = Fence {
                task: TaskId::from_uuid(row.uuid(1)?),
                attempt: count(row.int(2)?),
                worker: WorkerId::from_uuid(row.uuid(3)?),
            };
            Ok((TenantId::from_uuid(row.uuid(0)?), fence))
        })
    }

    /// Lists tasks of all tenants that are of no use any more.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn past_deadline(
        &mut self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(TenantId, TaskId)>> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Int(limit as i64)];
        self.tx.conn.query(&rows::DEADLINES_DUE, &params, tenant_and_task)
    }

    /// Forgets the deadline of a task.
    ///
    /// # Errors
    /// If the database fails.
    pub fn drop_deadline(&mut self, task: TaskId) -> Result<()> {
        let tenant = self.tenant()?;
        Rows { conn: &mut self.tx.conn, tenant }.drop_deadline(task)
    }

    /// Raises tasks of a line that have waited for so long by one tier, in which they have just
    /// come then; returns them.
    ///
    /// # Errors
    /// If the database fails.
    pub fn age(
        &mut self,
        lane: &Lane,
        from: TaskPriority,
        now: Timestamp,
        age: SignedDuration,
    ) -> Result<Vec<Spot>> {
        let tenant = self.tenant()?;
        let priority = TaskPriority::from_tier(from.tier() - 1);
        let before = now.saturating_sub(age).unwrap_or(Timestamp::UNIX_EPOCH);
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Text(lane.as_str()),
            Param::Int(from.tier()),
            Param::Int(micros(before)),
            Param::Int(AGED_AT_ONCE),
        ];
        let old = self.tx.conn.query(&rows::READY_AGED, &params, |row| {
            Ok((rows::spot(row)?, from_micros(row.int(5)?)))
        })?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let mut raised = Vec::with_capacity(old.len());
        for (spot, at) in old {
            // Another server may have handed it out meanwhile.
            if !rows.drop_ready(&spot, at)? {
                continue;
            }
            let spot = Spot { priority, ..spot };
            rows.put_ready(&spot, at.saturating_add(age).unwrap_or(now))?;
            raised.push(spot);
        }
        Ok(raised)
    }

    /// Lets a running task have no more attempts, and end this one at a time; `false` if it does not
    /// run.
    ///
    /// # Errors
    /// If the database fails.
    pub fn end_by(&mut self, task: TaskId, at: Timestamp) -> Result<bool> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let params = [Param::Int(micros(at)), own, Param::Uuid(task.uuid())];
        Ok(self.tx.conn.execute(&END_BY, &params)? == 1)
    }

    /// Moves the ends of all attempts, because the clock was set.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn shift(&mut self, by: SignedDuration) -> Result<()> {
        self.tx.system()?;
        let by = i64::try_from(by.as_micros()).unwrap_or_default();
        self.tx.conn.execute(&SHIFT, &[Param::Int(by)]).map(drop)
    }

    /// Lists what has news of its tasks, of all tenants.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn owners_with_news(&mut self, limit: usize) -> Result<Vec<(TenantId, String, String)>> {
        self.tx.system()?;
        self.tx.conn.query(&NEWS, &[Param::Int(limit as i64)], |row| {
            Ok((TenantId::from_uuid(row.uuid(0)?), row.text(1)?, row.text(2)?))
        })
    }

    /// Lists the news of the tasks of something.
    ///
    /// # Errors
    /// If the database fails.
    pub fn news(&mut self, kind: &str, owner: &str, limit: usize) -> Result<Vec<News>> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let params = [own, Param::Text(kind), Param::Text(owner), Param::Int(limit as i64)];
        self.tx.conn.query(&NEWS_OF, &params, |row| {
            Ok(News {
                task: TaskId::from_uuid(row.uuid(0)?),
                part: row.text(1)?,
                state: super::state(&row.text(2)?)?,
                result: row.opt_text(3)?,
                error: row.opt_text(4)?,
            })
        })
    }

    /// Forgets news that were taken in; `false` if there are newer ones, or none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn drop_news(&mut self, kind: &str, owner: &str, news: &News) -> Result<bool> {
        let params = [
            Param::Uuid(self.tenant()?.uuid()),
            Param::Text(kind),
            Param::Text(owner),
            Param::Uuid(news.task.uuid()),
            Param::Text(news.state.as_str()),
        ];
        Ok(self.tx.conn.execute(&NEWS_DELETE, &params)? == 1)
    }

    /// Tells whether and how a task ended.
    ///
    /// # Errors
    /// If the database fails.
    pub fn ended(&mut self, task: TaskId) -> Result<Option<TaskState>> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Uuid(task.uuid())];
        self.tx.conn.first(&IS_OVER, &params, |row| super::state(&row.text(0)?))
    }
}

fn tenant_and_task(row: &Row<'_>) -> Result<(TenantId, TaskId)> {
    Ok((TenantId::from_uuid(row.uuid(0)?), TaskId::from_uuid(row.uuid(1)?)))
}
