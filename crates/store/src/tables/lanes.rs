//! The lines of pools: how many there are, and which nobody uses any more.

use godel_model::{Lane, PoolName, TenantId};

use crate::statement::{Conn, Param, statements};
use crate::{Result, Tx};

statements! {
    NOTE = "lane_note":
        "INSERT INTO lane (tenant, pool, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    NAMES = "lane_names": "SELECT name FROM lane WHERE tenant = $1 AND pool = $2";
    POOLS = "lane_pools": "SELECT COUNT(DISTINCT pool) FROM lane WHERE tenant = $1";
    BARRING = "lane_barring":
        "SELECT tenant, pool, name FROM lane WHERE name LIKE '% !%' ORDER BY tenant, pool, name
         LIMIT $1";
    TENANTS = "lane_tenants": "SELECT DISTINCT tenant FROM lane WHERE pool = $1";
    UNUSED = "lane_unused":
        "SELECT COUNT(*) FROM lane l WHERE l.tenant = $1
           AND NOT EXISTS (SELECT 1 FROM ready r WHERE r.tenant = l.tenant AND r.lane = l.name)
           AND l.name NOT IN (SELECT lane FROM delayed WHERE tenant = $2
                              UNION SELECT lane FROM blocked WHERE tenant = $3
                              UNION SELECT lane FROM lease WHERE tenant = $4)";
    SWEEP = "lane_sweep":
        "DELETE FROM lane WHERE tenant = $1
           AND NOT EXISTS (SELECT 1 FROM ready r WHERE r.tenant = lane.tenant AND r.lane = lane.name)
           AND name NOT IN (SELECT lane FROM delayed WHERE tenant = $2
                            UNION SELECT lane FROM blocked WHERE tenant = $3
                            UNION SELECT lane FROM lease WHERE tenant = $4)";
}

/// Whoever adds a task has looked at the lines, so that it holds this off; whoever comes behind it
/// sees which are gone. It waits for a moment only, because all others wait behind it.
const LOCK: &str = "DO $$ BEGIN
        PERFORM set_config('godel.lanes', 'free', true);
        SET LOCAL lock_timeout = '100ms';
        LOCK TABLE lane IN ACCESS EXCLUSIVE MODE;
        PERFORM set_config('godel.lanes', 'held', true);
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
    END $$";
const HELD: &str = "SELECT COALESCE(current_setting('godel.lanes', true), 'free'),
                           set_config('lock_timeout', '20s', true)";

/// The lines of a tenant, or of all.
pub struct Lanes<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Lanes<'_, '_> {
    /// Notes that a line exists.
    ///
    /// # Errors
    /// If the database fails.
    pub fn note(&mut self, lane: &Lane) -> Result<()> {
        let tenant = self.tx.tenant()?;
        note(&mut self.tx.conn, tenant, lane)
    }

    /// Lists the lines of a pool.
    ///
    /// # Errors
    /// If the database fails.
    pub fn of_pool(&mut self, pool: &str) -> Result<Vec<Lane>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(pool)];
        self.tx.conn.query(&NAMES, &params, |row| Ok(Lane::from_stored(row.text(0)?)))
    }

    /// Counts the pools that have lines.
    ///
    /// # Errors
    /// If the database fails.
    pub fn pools(&mut self) -> Result<u64> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid())];
        let found = self.tx.conn.first(&POOLS, &params, |row| row.int(0))?;
        Ok(found.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }

    /// Lists lines of all tenants that are closed to somebody.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn barring(&mut self, limit: usize) -> Result<Vec<(TenantId, PoolName, Lane)>> {
        self.tx.system()?;
        self.tx.conn.query(&BARRING, &[Param::Int(limit as i64)], |row| {
            let tenant = TenantId::from_uuid(row.uuid(0)?);
            Ok((tenant, PoolName::from_stored(row.text(1)?), Lane::from_stored(row.text(2)?)))
        })
    }

    /// Lists the tenants that have lines in a pool.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn tenants(&mut self, pool: &str) -> Result<Vec<TenantId>> {
        self.tx.system()?;
        let params = [Param::Text(pool)];
        self.tx.conn.query(&TENANTS, &params, |row| Ok(TenantId::from_uuid(row.uuid(0)?)))
    }

    /// Counts the lines in which nothing is.
    ///
    /// # Errors
    /// If the database fails.
    pub fn unused(&mut self) -> Result<u64> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let found = self.tx.conn.first(&UNUSED, &[own; 4], |row| row.int(0))?;
        Ok(found.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }

    /// Removes the lines in which nothing is; returns how many, or none if others are too busy.
    ///
    /// # Errors
    /// If the database fails.
    pub fn sweep(&mut self) -> Result<Option<u64>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        if let Conn::Postgres(session) = &mut self.tx.conn {
            session.query_raw("lane_lock", LOCK, &[])?;
            let held = session.query_raw("lane_lock_held", HELD, &[])?;
            let held = held.first().map(|row| crate::statement::Row::Postgres(row).text(0));
            if held.transpose()?.as_deref() != Some("held") {
                return Ok(None);
            }
        }
        Ok(Some(self.tx.conn.execute(&SWEEP, &[own; 4])?))
    }
}

/// Notes that a line exists.
pub(super) fn note(conn: &mut Conn<'_>, tenant: TenantId, lane: &Lane) -> Result<()> {
    let params = [Param::Uuid(tenant.uuid()), Param::Text(lane.pool()), Param::Text(lane.as_str())];
    conn.execute(&NOTE, &params).map(drop)
}
