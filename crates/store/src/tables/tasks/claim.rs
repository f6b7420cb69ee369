//! Handing tasks out.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use godel_model::{Lane, PoolName, PoolSettings, TaskId, WorkerId, from_micros, micros};
use jiff::{SignedDuration, Timestamp};

use super::rows::{self, Rows};
use super::{Head, Lease, Ready, Spot, Tasks, asked, hot};
use crate::statement::{Conn, Param, Row, statements};
use crate::tables::lanes;
use crate::{Error, Result};

statements! {
    POOL_VIEW = "pool_view":
        "SELECT l.name, p.settings FROM lane l
         LEFT JOIN pool p ON p.tenant = l.tenant AND p.name = l.pool
         WHERE l.tenant = $1 AND l.pool = $2 ORDER BY l.name";
    HEADS = "ready_heads":
        "SELECT r.task, r.lane, r.tier, r.attempt, r.last, r.at, t.asked, t.created_at
         FROM ready r JOIN task t ON t.tenant = r.tenant AND t.id = r.task
         WHERE r.tenant = $1 AND r.lane = $2 ORDER BY r.tier, r.at, r.task LIMIT $3";
    WORKER_ROOM = "worker_room":
        "SELECT w.capacity - (SELECT COUNT(*) FROM lease l WHERE l.tenant = w.tenant AND l.worker = w.id)
         FROM worker w WHERE w.tenant = $1 AND w.id = $2 AND w.gone = 0";
}

impl Tasks<'_, '_> {
    /// Lists the lines of a pool, and tells how it works.
    ///
    /// # Errors
    /// If the database fails.
    pub fn pool(&mut self, pool: &PoolName) -> Result<(PoolSettings, Vec<Lane>)> {
        let params = [Param::Uuid(self.tenant()?.uuid()), Param::Text(pool.as_str())];
        let found =
            self.tx.conn.query(&POOL_VIEW, &params, |row| Ok((row.text(0)?, row.opt_text(1)?)))?;
        let settings = match found.first().and_then(|(_, settings)| settings.as_deref()) {
            Some(text) => serde_json::from_str(text)
                .map_err(|cause| Error::Unreadable { what: "pool", cause: cause.into() })?,
            None => PoolSettings::default(),
        };
        Ok((settings, found.into_iter().map(|(lane, _)| Lane::from_stored(lane)).collect()))
    }

    /// Returns the most urgent tasks of some lines, of each up to a limit, the oldest first, and
    /// keeps them for this transaction.
    ///
    /// # Errors
    /// If the database fails.
    pub fn heads(&mut self, lanes: &[&Lane], limit: usize) -> Result<Vec<Head>> {
        let tenant = self.tenant()?;
        if let Conn::Postgres(session) = &mut self.tx.conn {
            return hot::heads(session, tenant, lanes, limit);
        }
        let mut heads = Vec::new();
        for lane in lanes {
            let own = Param::Uuid(tenant.uuid());
            let params = [own, Param::Text(lane.as_str()), Param::Int(limit as i64)];
            heads.extend(self.tx.conn.query(&HEADS, &params, head)?);
        }
        if lanes.len() > 1 {
            heads.sort_by_key(|head| (head.spot.priority, head.at, head.spot.task));
        }
        Ok(heads)
    }

    /// Hands heads out, each to its worker, unless that is gone or has as much as it can have: the
    /// attempt is counted now, so that a task that kills its worker comes to an end.
    ///
    /// # Errors
    /// If the database fails.
    pub fn hand_out(&mut self, given: &[(Head, WorkerId)], now: Timestamp) -> Result<Vec<Lease>> {
        let tenant = self.tenant()?;
        let mut leases: Vec<Lease> = given.iter().map(|(head, to)| lease(head, *to, now)).collect();
        if let Conn::Postgres(session) = &mut self.tx.conn {
            let moved = hot::hand_out(session, tenant, given, &leases)?;
            leases.retain(|lease| moved.contains(&lease.spot.task));
            return Ok(leases);
        }
        let own = Param::Uuid(tenant.uuid());
        let mut rows = Rows { conn: &mut self.tx.conn, tenant };
        let mut rooms: HashMap<WorkerId, i64> = HashMap::new();
        let mut kept = Vec::with_capacity(leases.len());
        for ((head, worker), lease) in given.iter().zip(leases) {
            let room = match rooms.entry(*worker) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let params = [own, Param::Uuid(worker.uuid())];
                    let room = rows.conn.first(&WORKER_ROOM, &params, |row| row.int(0))?;
                    new.insert(room.unwrap_or(0))
                }
            };
            if *room <= 0 {
                continue;
            }
            *room -= 1;
            if head.from == Ready::InLine && !rows.drop_ready(&head.spot, head.at)? {
                let cause = format!("task {} is not where it was found", head.spot.task);
                return Err(Error::Unreadable { what: "queue", cause: cause.into() });
            }
            rows.put_lease(&lease)?;
            kept.push(lease);
        }
        Ok(kept)
    }

    /// Gives a task that is ready or delayed to one worker alone, when its time comes; `None` if it
    /// is elsewhere.
    ///
    /// # Errors
    /// If the database fails.
    pub fn assign(&mut self, task: TaskId, lane: &Lane) -> Result<Option<Spot>> {
        let (tenant, id) = (self.tenant()?, Param::Uuid(task.uuid()));
        let conn = &mut self.tx.conn;
        let params = [Param::Text(lane.as_str()), Param::Uuid(tenant.uuid()), id];
        for statement in [&rows::READY_GIVE, &rows::DELAYED_GIVE] {
            if let Some(spot) = conn.change(statement, &params, rows::spot)?.into_iter().next() {
                lanes::note(conn, tenant, lane)?;
                return Ok(Some(spot));
            }
        }
        Ok(None)
    }

    /// Puts what one worker alone was to do back into the lines from which it came.
    ///
    /// # Errors
    /// If the database fails.
    pub fn unassign(&mut self, lane: &Lane) -> Result<Vec<Spot>> {
        let own = Param::Uuid(self.tenant()?.uuid());
        let params = [own, Param::Text(lane.as_str())];
        let mut back = self.tx.conn.change(&rows::READY_HOME, &params, rows::spot)?;
        back.extend(self.tx.conn.change(&rows::DELAYED_HOME, &params, rows::spot)?);
        let params = [own, Param::Text(lane.pool()), Param::Text(lane.as_str())];
        self.tx.conn.execute(&rows::LANE_DELETE, &params)?;
        Ok(back)
    }
}

fn lease(head: &Head, worker: WorkerId, now: Timestamp) -> Lease {
    let spot = Spot { attempt: head.spot.attempt + 1, ..head.spot.clone() };
    let limit = head.asked.timeout_seconds.and_then(|seconds| i64::try_from(seconds).ok());
    let ends_at =
        limit.and_then(|seconds| now.checked_add(SignedDuration::from_secs(seconds)).ok());
    Lease { spot, worker, started_at: now, ends_at, progress: None, cancel: None }
}

pub(super) fn head(row: &Row<'_>) -> Result<Head> {
    Ok(Head {
        spot: rows::spot(row)?,
        at: from_micros(row.int(5)?),
        asked: asked(&row.text(6)?)?,
        created_at: from_micros(row.int(7)?),
        from: Ready::InLine,
    })
}

impl Rows<'_, '_> {
    /// Takes a task that was found ready away; `false` if it is not there any more.
    pub(super) fn drop_ready(&mut self, spot: &Spot, at: Timestamp) -> Result<bool> {
        let params = [
            Param::Uuid(self.tenant.uuid()),
            Param::Text(spot.lane.as_str()),
            Param::Int(spot.priority.tier()),
            Param::Int(micros(at)),
            Param::Uuid(spot.task.uuid()),
        ];
        Ok(self.conn.execute(&rows::READY_DELETE, &params)? == 1)
    }
}
