//! Pools and how they work.

use godel_model::{Pool, PoolName, PoolSettings, TenantId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    PUT = "pool_put":
        "INSERT INTO pool (tenant, name, settings, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant, name) DO UPDATE SET settings = EXCLUDED.settings";
    BY_NAME = "pool_by_name":
        "SELECT name, settings, created_at FROM pool WHERE tenant = $1 AND name = $2";
    LIST = "pool_list":
        "SELECT name, settings, created_at FROM pool WHERE tenant = $1 ORDER BY name";
    ALL_POOLS = "pool_all": "SELECT tenant, name, settings, created_at FROM pool ORDER BY tenant, name";
    USED = "pool_used":
        "SELECT DISTINCT pool FROM lane WHERE tenant = $1 ORDER BY pool";
}

/// The pools of a tenant whose settings were ever changed; all others work by default.
pub struct Pools<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Pools<'_, '_> {
    /// Stores how a pool works.
    ///
    /// # Errors
    /// If the database fails.
    pub fn put(&mut self, name: &PoolName, settings: &PoolSettings, now: Timestamp) -> Result<()> {
        let text = serde_json::to_string(settings).map_err(unreadable)?;
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Text(name.as_str()),
            Param::Text(&text),
            Param::Int(micros(now)),
        ];
        self.tx.conn.execute(&PUT, &params).map(drop)
    }

    /// Tells how a pool works.
    ///
    /// # Errors
    /// If the database fails.
    pub fn settings(&mut self, name: &PoolName) -> Result<PoolSettings> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(name.as_str())];
        let found = self.tx.conn.first(&BY_NAME, &params, |row| read(row, 0))?;
        Ok(found.map_or_else(PoolSettings::default, |pool| pool.settings))
    }

    /// Lists the pools with settings of their own.
    ///
    /// # Errors
    /// If the database fails.
    pub fn list(&mut self) -> Result<Vec<Pool>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.query(&LIST, &[own], |row| read(row, 0))
    }

    /// Lists the names of all pools that ever had a task.
    ///
    /// # Errors
    /// If the database fails.
    pub fn used(&mut self) -> Result<Vec<PoolName>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.query(&USED, &[own], |row| Ok(PoolName::from_stored(row.text(0)?)))
    }

    /// Lists the pools of all tenants with settings of their own.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn all(&mut self) -> Result<Vec<(TenantId, Pool)>> {
        self.tx.system()?;
        self.tx
            .conn
            .query(&ALL_POOLS, &[], |row| Ok((TenantId::from_uuid(row.uuid(0)?), read(row, 1)?)))
    }
}

fn read(row: &Row<'_>, from: usize) -> Result<Pool> {
    Ok(Pool {
        name: PoolName::from_stored(row.text(from)?),
        settings: serde_json::from_str(&row.text(from + 1)?).map_err(unreadable)?,
        created_at: from_micros(row.int(from + 2)?),
    })
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::Unreadable { what: "settings of a pool", cause: cause.into() }
}
