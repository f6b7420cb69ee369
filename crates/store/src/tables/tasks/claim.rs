//! Handing tasks out.

use godel_model::{Lane, PoolName, TaskId, WorkerId, from_micros, micros};
use jiff::{SignedDuration, Timestamp};

use super::rows::{self, Rows};
use super::{Head, Lease, Spot, Tasks, asked, hot};
use crate::statement::{Conn, Param, Row, Statement};
use crate::{Error, Result};

// The heads of one line. PostgreSQL locks them, and passes over what another server hands out.
pub(super) static HEADS: Statement = Statement {
    name: "ready_heads",
    sqlite: "SELECT r.task, r.lane, r.tier, r.attempt, r.last, r.at, t.asked, t.created_at
             FROM ready r JOIN task t ON t.tenant = r.tenant AND t.id = r.task
             WHERE r.tenant = $1 AND r.lane = $2 ORDER BY r.tier, r.at, r.task LIMIT $3",
    postgres: "SELECT r.task, r.lane, r.tier, r.attempt, r.last, r.at, t.asked, t.created_at
               FROM ready r JOIN task t ON t.tenant = r.tenant AND t.id = r.task
               WHERE r.tenant = $1 AND r.lane = $2 ORDER BY r.tier, r.at, r.task LIMIT $3
               FOR UPDATE OF r SKIP LOCKED",
};

impl Tasks<'_, '_> {
    /// Lists the lines of a pool.
    ///
    /// # Errors
    /// If the database fails.
    pub fn lanes(&mut self, pool: &PoolName) -> Result<Vec<Lane>> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Text(pool.as_str())];
        self.tx.conn.query(&rows::LANES, &params, |row| Ok(Lane::from_stored(row.text(0)?)))
    }

    /// Returns the most urgent tasks of some lines, the oldest first, and keeps them for this
    /// transaction.
    ///
    /// # Errors
    /// If the database fails.
    pub fn heads<'l>(
        &mut self,
        lanes: impl IntoIterator<Item = &'l Lane>,
        limit: usize,
    ) -> Result<Vec<Head>> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let mut heads = Vec::new();
        let mut sorted = true;
        for lane in lanes {
            sorted = heads.is_empty();
            let params = [own, Param::Text(lane.as_str()), Param::Int(limit as i64)];
            heads.extend(self.tx.conn.query(&HEADS, &params, head)?);
        }
        if !sorted {
            heads.sort_by_key(|head| (head.spot.priority, head.at, head.spot.task));
            heads.truncate(limit);
        }
        Ok(heads)
    }

    /// Hands heads out, each to its worker: the attempt is counted now, so that a task that kills
    /// its worker comes to an end.
    ///
    /// # Errors
    /// If the database fails.
    pub fn hand_out(&mut self, given: &[(Head, WorkerId)], now: Timestamp) -> Result<Vec<Lease>> {
        let tenant = self.tenant()?;
        let leases: Vec<Lease> = given.iter().map(|(head, to)| lease(head, *to, now)).collect();
        if let Conn::Postgres(session) = &mut self.tx.conn {
            hot::hand_out(session, tenant, given, &leases)?;
            return Ok(leases);
        }
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        for ((head, _), lease) in given.iter().zip(&leases) {
            rows.drop_ready(&head.spot, head.at)?;
            rows.put_lease(lease)?;
        }
        Ok(leases)
    }

    /// Gives a task that waits to one worker alone; `None` if it does not wait.
    ///
    /// # Errors
    /// If the database fails.
    pub fn assign(&mut self, task: TaskId, lane: &Lane, now: Timestamp) -> Result<Option<Spot>> {
        let tenant = self.tenant()?;
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let Some((spot, _)) = rows.take_waiting(task)? else { return Ok(None) };
        let spot = Spot { lane: lane.clone(), ..spot };
        rows.put_ready(&spot, now)?;
        Ok(Some(spot))
    }
}

fn lease(head: &Head, worker: WorkerId, now: Timestamp) -> Lease {
    let spot = Spot { attempt: head.spot.attempt + 1, ..head.spot.clone() };
    let limit = head.asked.timeout_seconds.and_then(|seconds| i64::try_from(seconds).ok());
    let ends_at =
        limit.and_then(|seconds| now.checked_add(SignedDuration::from_secs(seconds)).ok());
    Lease { spot, worker, started_at: now, ends_at, progress: None, cancel: None }
}

fn head(row: &Row<'_>) -> Result<Head> {
    Ok(Head {
        spot: rows::spot(row)?,
        at: from_micros(row.int(5)?),
        asked: asked(&row.text(6)?)?,
        created_at: from_micros(row.int(7)?),
    })
}

impl Rows<'_, '_> {
    pub(super) fn drop_ready(&mut self, spot: &Spot, at: Timestamp) -> Result<()> {
        let params = [
            Param::Uuid(self.tenant.uuid()),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Int(micros(at)),
            Param::Uuid(spot.task.uuid()),
        ];
        if self.conn.execute(&rows::READY_DELETE, &params)? == 1 {
            return Ok(());
        }
        let cause = format!("task {} is not where it was found", spot.task).into();
        Err(Error::Unreadable { what: "queue", cause })
    }
}
