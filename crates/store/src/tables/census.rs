//! Counting what all tenants have in the queue, for those who look after the server.

use godel_model::{Lane, TaskPriority, TaskState, TenantId, WorkerStatus, from_micros};

use crate::statement::{Param, Row, statements};
use crate::tables::tasks::Depth;
use crate::{Error, Result, Tx};

statements! {
    QUEUE = "census_queue":
        "SELECT tenant, lane, 'ready', tier, COUNT(*), MIN(at) FROM ready
         GROUP BY tenant, lane, tier
         UNION ALL SELECT tenant, lane, 'delayed', tier, COUNT(*), MIN(due_at) FROM delayed
         GROUP BY tenant, lane, tier
         UNION ALL SELECT tenant, lane, 'blocked', tier, COUNT(*), NULL FROM blocked
         GROUP BY tenant, lane, tier
         UNION ALL SELECT tenant, lane, 'running', tier, COUNT(*), MIN(started_at) FROM lease
         GROUP BY tenant, lane, tier
         UNION ALL SELECT tenant, lane, 'dead', tier, COUNT(*), MIN(at) FROM outcome
         WHERE state = 'dead' AND state <> 'succeeded' GROUP BY tenant, lane, tier";
    WORKERS = "census_workers":
        "SELECT w.tenant, w.pool, w.mood,
                CASE WHEN l.worker IS NULL THEN 'idle' ELSE 'busy' END, COUNT(*)
         FROM worker w LEFT JOIN (SELECT DISTINCT tenant, worker FROM lease) l
             ON l.tenant = w.tenant AND l.worker = w.id
         WHERE w.gone = 0
         GROUP BY w.tenant, w.pool, w.mood, CASE WHEN l.worker IS NULL THEN 'idle' ELSE 'busy' END";
    RUNS = "census_runs": "SELECT state, COUNT(*) FROM run GROUP BY state";
    TEAMS = "census_teams": "SELECT state, COUNT(*) FROM team GROUP BY state";
    DEAD = "census_dead":
        "SELECT lane, COUNT(*) FROM outcome
         WHERE tenant = $1 AND state = 'dead' AND state <> 'succeeded' GROUP BY lane";
}

/// How many workers of a pool are in a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staff {
    /// Whose they are.
    pub tenant: TenantId,
    /// The pool.
    pub pool: String,
    /// How they are doing; those that are gone are not counted.
    pub status: WorkerStatus,
    /// How many.
    pub count: u64,
}

/// What all tenants have.
pub struct Census<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Census<'_, '_> {
    /// Counts what is in the queues of all tenants.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn queue(&mut self) -> Result<Vec<(TenantId, Depth)>> {
        self.tx.system()?;
        self.tx.conn.query(&QUEUE, &[], |row| {
            let state = row.text(2)?.parse::<TaskState>().map_err(|cause| Error::Unreadable {
                what: "state of a task",
                cause: cause.into(),
            })?;
            let depth = Depth {
                lane: Lane::from_stored(row.text(1)?),
                state,
                priority: TaskPriority::from_tier(row.int(3)?),
                count: count(row, 4)?,
                oldest: row.opt_int(5)?.map(from_micros),
            };
            Ok((TenantId::from_uuid(row.uuid(0)?), depth))
        })
    }

    /// Counts the workers of all tenants that live.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn workers(&mut self) -> Result<Vec<Staff>> {
        self.tx.system()?;
        self.tx.conn.query(&WORKERS, &[], |row| {
            let status = match (row.text(2)?.as_str(), row.text(3)?.as_str()) {
                ("paused", _) => WorkerStatus::Paused,
                ("error", _) => WorkerStatus::Error,
                (_, "busy") => WorkerStatus::Busy,
                _ => WorkerStatus::Idle,
            };
            let tenant = TenantId::from_uuid(row.uuid(0)?);
            Ok(Staff { tenant, pool: row.text(1)?, status, count: count(row, 4)? })
        })
    }

    /// Counts the runs of workflows of all tenants, by state.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn runs(&mut self) -> Result<Vec<(String, u64)>> {
        self.tx.system()?;
        self.tx.conn.query(&RUNS, &[], |row| Ok((row.text(0)?, count(row, 1)?)))
    }

    /// Counts the teams of all tenants, by state.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn teams(&mut self) -> Result<Vec<(String, u64)>> {
        self.tx.system()?;
        self.tx.conn.query(&TEAMS, &[], |row| Ok((row.text(0)?, count(row, 1)?)))
    }

    /// Counts the dead letters of the tenant, by line.
    ///
    /// # Errors
    /// If the database fails.
    pub fn dead(&mut self) -> Result<Vec<(Lane, u64)>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let read = |row: &Row<'_>| Ok((Lane::from_stored(row.text(0)?), count(row, 1)?));
        self.tx.conn.query(&DEAD, &[own], read)
    }
}

fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    Ok(u64::try_from(row.int(column)?).unwrap_or(0))
}
