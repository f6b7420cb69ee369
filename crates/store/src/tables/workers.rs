//! Workers: who takes tasks, and until when they are believed to live.

use std::collections::BTreeSet;

use godel_model::{
    Capability, Mood, PoolName, TenantId, UserId, Worker, WorkerId, from_micros, micros,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    PUT = "worker_put":
        "INSERT INTO worker (tenant, id, name, pool, capabilities, capacity, mood, error, person,
                             registered_at, seen_at, expires_at, gone)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0)";
    BY_ID = "worker_by_id":
        "SELECT id, name, pool, capabilities, capacity, mood, error, person, registered_at, seen_at,
                expires_at, gone
         FROM worker WHERE tenant = $1 AND id = $2";
    PAGE = "worker_page":
        "SELECT id, name, pool, capabilities, capacity, mood, error, person, registered_at, seen_at,
                expires_at, gone
         FROM worker WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    TOUCH = "worker_touch":
        "UPDATE worker SET seen_at = $1, expires_at = $2
         WHERE tenant = $3 AND id = $4 AND gone = 0";
    SET_MOOD = "worker_set_mood":
        "UPDATE worker SET mood = $1, error = $2 WHERE tenant = $3 AND id = $4 AND gone = 0";
    EXPIRED = "worker_expired":
        "SELECT tenant, id FROM worker WHERE gone = 0 AND expires_at <= $1
         ORDER BY expires_at LIMIT $2";
    BURY = "worker_bury":
        "UPDATE worker SET gone = 1, expires_at = CASE WHEN expires_at < $1 THEN expires_at ELSE $2 END
         WHERE tenant = $3 AND id = $4 AND gone = 0 AND expires_at <= $5";
    SET_EXPIRY = "worker_set_expiry": "UPDATE worker SET expires_at = $1 WHERE gone = 0";
    HEARD_LAST = "worker_heard_last": "SELECT MAX(seen_at) FROM worker WHERE gone = 0";
    TRIM = "worker_trim": "DELETE FROM worker WHERE gone = 1 AND expires_at < $1";
    ACTIVE = "worker_active":
        "SELECT id, capabilities FROM worker
         WHERE tenant = $1 AND pool = $2 AND gone = 0 AND mood = 'active' ORDER BY id";
    LIVE = "worker_live": "SELECT COUNT(*) FROM worker WHERE tenant = $1 AND gone = 0";
}

/// The workers of a tenant, or of all tenants.
pub struct Workers<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Workers<'_, '_> {
    /// Adds a worker.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, worker: &Worker) -> Result<()> {
        let tenant = self.tx.tenant()?;
        let able: Vec<&str> = worker.capabilities.iter().map(Capability::as_str).collect();
        let able = able.join(" ");
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(worker.id.uuid()),
            Param::Text(worker.name.as_str()),
            Param::Text(worker.pool.as_str()),
            Param::Text(&able),
            Param::Int(worker.capacity.into()),
            Param::Text(worker.mood.as_str()),
            Param::from(worker.error.as_deref()),
            Param::Uuid(worker.user.uuid()),
            Param::Int(micros(worker.registered_at)),
            Param::Int(micros(worker.seen_at)),
            Param::Int(micros(worker.expires_at)),
        ];
        self.tx.conn.execute(&PUT, &params).map(drop)
    }

    /// Finds a worker.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: WorkerId) -> Result<Option<Worker>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Lists workers before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(&mut self, before: Option<WorkerId>, limit: usize) -> Result<Vec<Worker>> {
        let before = Param::Uuid(before.map_or(Uuid::max(), WorkerId::uuid));
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), before, Param::Int(limit as i64)];
        self.tx.conn.query(&PAGE, &params, read)
    }

    /// Counts the workers that live.
    ///
    /// # Errors
    /// If the database fails.
    pub fn live(&mut self) -> Result<i64> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid())];
        Ok(self.tx.conn.first(&LIVE, &params, |row| row.int(0))?.unwrap_or(0))
    }

    /// Lists the workers of a pool that live and take tasks, and what each can do.
    ///
    /// # Errors
    /// If the database fails.
    pub fn active(&mut self, pool: &PoolName) -> Result<Vec<(WorkerId, BTreeSet<Capability>)>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(pool.as_str())];
        self.tx.conn.query(&ACTIVE, &params, |row| {
            let able = row.text(1)?;
            let words = able.split(' ').filter(|word| !word.is_empty());
            let able = words.map(|word| Capability::from_stored(word.to_owned())).collect();
            Ok((WorkerId::from_uuid(row.uuid(0)?), able))
        })
    }

    /// Notes that a worker was heard of; `false` if it is gone.
    ///
    /// # Errors
    /// If the database fails.
    pub fn touch(&mut self, id: WorkerId, now: Timestamp, until: Timestamp) -> Result<bool> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params =
            [Param::Int(micros(now)), Param::Int(micros(until)), own, Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&TOUCH, &params)? == 1)
    }

    /// Notes what a worker says of itself; `false` if it is gone.
    ///
    /// # Errors
    /// If the database fails.
    pub fn set_mood(&mut self, id: WorkerId, mood: Mood, error: Option<&str>) -> Result<bool> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [Param::Text(mood.as_str()), Param::from(error), own, Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&SET_MOOD, &params)? == 1)
    }

    /// Lists workers of all tenants that were not heard of for too long.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn expired(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, WorkerId)>> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Int(limit as i64)];
        self.tx.conn.query(&EXPIRED, &params, |row| {
            Ok((TenantId::from_uuid(row.uuid(0)?), WorkerId::from_uuid(row.uuid(1)?)))
        })
    }

    /// Notes that a worker which expired before a time is gone; `false` if it is not so.
    ///
    /// # Errors
    /// If the database fails.
    pub fn bury(&mut self, id: WorkerId, now: Timestamp, before: Timestamp) -> Result<bool> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let now = Param::Int(micros(now));
        let params = [now, now, own, Param::Uuid(id.uuid()), Param::Int(micros(before))];
        Ok(self.tx.conn.execute(&BURY, &params)? == 1)
    }

    /// Lets all workers live until a time, because nobody could hear them or the clock was set.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn set_expiry(&mut self, until: Timestamp) -> Result<u64> {
        self.tx.system()?;
        self.tx.conn.execute(&SET_EXPIRY, &[Param::Int(micros(until))])
    }

    /// Tells when any worker was last heard of.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn heard_last(&mut self) -> Result<Option<Timestamp>> {
        self.tx.system()?;
        let heard = self.tx.conn.first(&HEARD_LAST, &[], |row| row.opt_int(0))?;
        Ok(heard.flatten().map(from_micros))
    }

    /// Removes workers that are gone since before a time.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn trim(&mut self, before: Timestamp) -> Result<u64> {
        self.tx.system()?;
        self.tx.conn.execute(&TRIM, &[Param::Int(micros(before))])
    }
}

fn read(row: &Row<'_>) -> Result<Worker> {
    let unreadable =
        |cause: godel_model::Invalid| Error::Unreadable { what: "worker", cause: cause.into() };
    let able = row.text(3)?;
    let capabilities: BTreeSet<_> = able
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| Capability::from_stored(word.to_owned()))
        .collect();
    let expires_at = from_micros(row.int(10)?);
    Ok(Worker {
        id: WorkerId::from_uuid(row.uuid(0)?),
        name: row.text(1)?.parse().map_err(unreadable)?,
        pool: PoolName::from_stored(row.text(2)?),
        capabilities,
        capacity: u32::try_from(row.int(4)?).unwrap_or(u32::MAX),
        mood: row.text(5)?.parse::<Mood>().map_err(unreadable)?,
        error: row.opt_text(6)?,
        user: UserId::from_uuid(row.uuid(7)?),
        registered_at: from_micros(row.int(8)?),
        seen_at: from_micros(row.int(9)?),
        expires_at: if row.int(11)? == 1 { Timestamp::UNIX_EPOCH } else { expires_at },
    })
}
