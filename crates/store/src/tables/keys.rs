//! API keys, stored as hashes.

use godel_model::{KeyHash, KeyId, TenantId, micros};

use crate::statement::{Param, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "api_key_insert":
        "INSERT INTO api_key (tenant, id, name, hash, prefix, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
    BY_HASH = "api_key_by_hash":
        "SELECT tenant, id, name FROM api_key WHERE hash = $1 AND revoked_at IS NULL";
    BY_ID = "api_key_by_id":
        "SELECT tenant, id, name FROM api_key WHERE id = $1 AND revoked_at IS NULL";
    REVOKE = "api_key_revoke":
        "UPDATE api_key SET revoked_at = $1 WHERE tenant = $2 AND name = $3 AND revoked_at IS NULL";
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The tenant it opens.
    pub tenant: TenantId,
    /// The id.
    pub id: KeyId,
    /// The name, such as `owner`.
    pub name: String,
}

/// The API keys of this server.
pub struct Keys<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Keys<'_, '_> {
    /// Adds a key.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn insert(
        &mut self,
        key: &KeyRecord,
        hash: KeyHash,
        prefix: &str,
        now: jiff::Timestamp,
    ) -> Result<()> {
        self.tx.system()?;
        let params = [
            Param::Uuid(key.tenant.uuid()),
            Param::Uuid(key.id.uuid()),
            Param::Text(&key.name),
            Param::Bytes(&hash.0),
            Param::Text(prefix),
            Param::Int(micros(now)),
        ];
        self.tx.conn.execute(&INSERT, &params)?;
        Ok(())
    }

    /// Finds the key with this hash, whoever's it is.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_hash(&mut self, hash: KeyHash) -> Result<Option<KeyRecord>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_HASH, &[Param::Bytes(&hash.0)], read)
    }

    /// Finds a key by its id.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_id(&mut self, id: KeyId) -> Result<Option<KeyRecord>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_ID, &[Param::Uuid(id.uuid())], read)
    }

    /// Revokes all keys of a tenant that have this name; returns how many there were.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn revoke(&mut self, tenant: TenantId, name: &str, now: jiff::Timestamp) -> Result<u64> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Uuid(tenant.uuid()), Param::Text(name)];
        self.tx.conn.execute(&REVOKE, &params)
    }
}

fn read(row: &crate::statement::Row<'_>) -> Result<KeyRecord> {
    Ok(KeyRecord { tenant: row.uuid(0)?.into(), id: row.uuid(1)?.into(), name: row.text(2)? })
}
