//! Tenants, and the head of each tenant's log.

use godel_model::{Tenant, TenantId, TenantName, from_micros, micros};

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    INSERT = "tenant_insert":
        "INSERT INTO tenant (tenant, name, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO NOTHING";
    INSERT_HEAD = "stream_head_insert":
        "INSERT INTO stream_head (tenant, seq, trimmed) VALUES ($1, 0, 0)";
    BY_NAME = "tenant_by_name": "SELECT tenant, name, created_at, disabled_at FROM tenant WHERE name = $1";
    BY_ID = "tenant_by_id": "SELECT tenant, name, created_at, disabled_at FROM tenant WHERE tenant = $1";
    LIST = "tenant_list": "SELECT tenant, name, created_at, disabled_at FROM tenant ORDER BY tenant";
    FIRST = "tenant_first":
        "SELECT tenant, name, created_at, disabled_at FROM tenant ORDER BY tenant LIMIT 1";
    DISABLE = "tenant_disable": "UPDATE tenant SET disabled_at = $1 WHERE tenant = $2";
    LOCK = "tenant_lock": "UPDATE tenant SET name = name WHERE tenant = $1";
    COUNT = "tenant_count": "SELECT COUNT(*) FROM tenant";
}

/// The tenants of this server.
pub struct Tenants<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Tenants<'_, '_> {
    /// Adds a tenant and its empty log; `false` if the name is taken.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn insert(&mut self, tenant: &Tenant) -> Result<bool> {
        self.tx.system()?;
        let id = Param::Uuid(tenant.id.uuid());
        let params = [id, Param::Text(tenant.name.as_str()), Param::Int(micros(tenant.created_at))];
        let fresh = self.tx.conn.execute(&INSERT, &params)? == 1;
        if fresh {
            self.tx.conn.execute(&INSERT_HEAD, &[id])?;
        }
        Ok(fresh)
    }

    /// Finds a tenant by its name.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_name(&mut self, name: &TenantName) -> Result<Option<Tenant>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_NAME, &[Param::Text(name.as_str())], read)
    }

    /// Finds a tenant by its id.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: TenantId) -> Result<Option<Tenant>> {
        self.tx.conn.first(&BY_ID, &[Param::Uuid(id.uuid())], read)
    }

    /// Lists all tenants.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn list(&mut self) -> Result<Vec<Tenant>> {
        self.tx.system()?;
        self.tx.conn.query(&LIST, &[], read)
    }

    /// Finds the oldest tenant, whose admins look after the whole server.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn first(&mut self) -> Result<Option<Tenant>> {
        self.tx.system()?;
        self.tx.conn.first(&FIRST, &[], read)
    }

    /// Closes a tenant for all its users, or opens it again; `false` if it is not there.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn disable(&mut self, id: TenantId, since: Option<jiff::Timestamp>) -> Result<bool> {
        self.tx.system()?;
        let since = since.map_or(Param::Null, |at| Param::Int(micros(at)));
        Ok(self.tx.conn.execute(&DISABLE, &[since, Param::Uuid(id.uuid())])? == 1)
    }

    /// Lets changes to who may do what in a tenant come one after the other, on all servers.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn lock(&mut self, id: TenantId) -> Result<()> {
        self.tx.reaches(id)?;
        self.tx.conn.execute(&LOCK, &[Param::Uuid(id.uuid())]).map(drop)
    }

    /// Counts the tenants.
    ///
    /// # Errors
    /// If the database fails.
    pub fn count(&mut self) -> Result<i64> {
        let count = self.tx.conn.first(&COUNT, &[], |row| row.int(0))?;
        Ok(count.unwrap_or_default())
    }
}

fn read(row: &Row<'_>) -> Result<Tenant> {
    Ok(Tenant {
        id: row.uuid(0)?.into(),
        name: row.text(1)?.parse().map_err(|cause: godel_model::Invalid| Error::Unreadable {
            what: "tenant name",
            cause: cause.into(),
        })?,
        created_at: from_micros(row.int(2)?),
        disabled_at: row.opt_int(3)?.map(from_micros),
    })
}
