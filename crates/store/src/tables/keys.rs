//! API keys, stored as hashes.

use godel_model::{
    Invalid, KeyHash, KeyId, KeyName, Permission, TenantId, UserId, from_micros, micros,
};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    INSERT = "api_key_insert":
        "INSERT INTO api_key (tenant, id, person, name, hash, prefix, scopes, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    BY_ID = "api_key_by_id":
        "SELECT tenant, id, person, name, prefix, scopes, created_at, expires_at, revoked_at, used_at
         FROM api_key WHERE tenant = $1 AND id = $2";
    PAGE = "api_key_page":
        "SELECT tenant, id, person, name, prefix, scopes, created_at, expires_at, revoked_at, used_at
         FROM api_key WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    PAGE_OF = "api_key_page_of":
        "SELECT tenant, id, person, name, prefix, scopes, created_at, expires_at, revoked_at, used_at
         FROM api_key WHERE tenant = $1 AND person = $2 AND id > $3 ORDER BY id LIMIT $4";
    LIVE = "api_key_live":
        "SELECT COUNT(*) FROM api_key WHERE tenant = $1 AND person = $2 AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > $3)";
    EXPIRE = "api_key_expire":
        "UPDATE api_key SET expires_at = $1 WHERE tenant = $2 AND id = $3";
    REVOKE = "api_key_revoke":
        "UPDATE api_key SET revoked_at = $1 WHERE tenant = $2 AND id = $3 AND revoked_at IS NULL";
    REVOKE_ALL = "api_key_revoke_all":
        "UPDATE api_key SET revoked_at = $1
         WHERE tenant = $2 AND person = $3 AND revoked_at IS NULL";
    REVOKE_NAMED = "api_key_revoke_named":
        "UPDATE api_key SET revoked_at = $1
         WHERE tenant = $2 AND person = $3 AND name = $4 AND revoked_at IS NULL";
    RENAME = "api_key_rename":
        "UPDATE api_key SET name = $1 WHERE tenant = $2 AND person = $3";
    USED = "api_key_used": "UPDATE api_key SET used_at = $1 WHERE tenant = $2 AND id = $3";
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The tenant it opens.
    pub tenant: TenantId,
    /// The id.
    pub id: KeyId,
    /// Whose key it is.
    pub user: UserId,
    /// The name, such as `ci`.
    pub name: KeyName,
    /// The beginning of the key, by which a person recognises it.
    pub prefix: String,
    /// What it is narrowed to; empty means all that its user may do.
    pub scopes: Vec<Permission>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub used_at: Option<Timestamp>,
}

impl KeyRecord {
    /// Tells whether the key opens anything at this time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none_or(|at| at > now) && self.expires_at.is_none_or(|at| at > now)
    }
}

/// The API keys of this server.
pub struct Keys<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Keys<'_, '_> {
    /// Adds a key.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn insert(&mut self, key: &KeyRecord, hash: KeyHash) -> Result<()> {
        self.tx.reaches(key.tenant)?;
        let scopes: Vec<_> = key.scopes.iter().map(ToString::to_string).collect();
        let scopes = scopes.join(" ");
        let params = [
            Param::Uuid(key.tenant.uuid()),
            Param::Uuid(key.id.uuid()),
            Param::Uuid(key.user.uuid()),
            Param::Text(key.name.as_str()),
            Param::Bytes(&hash.0),
            Param::Text(&key.prefix),
            Param::Text(&scopes),
            Param::Int(micros(key.created_at)),
            key.expires_at.map_or(Param::Null, |at| Param::Int(micros(at))),
        ];
        self.tx.conn.execute(&INSERT, &params).map(drop)
    }

    /// Finds a key by its id.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn by_id(&mut self, tenant: TenantId, id: KeyId) -> Result<Option<KeyRecord>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Lists keys by age, of one user or of all, up to `limit` behind the given one.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn page(
        &mut self,
        tenant: TenantId,
        user: Option<UserId>,
        from: Option<KeyId>,
        limit: usize,
    ) -> Result<Vec<KeyRecord>> {
        self.tx.reaches(tenant)?;
        let (own, limit) = (Param::Uuid(tenant.uuid()), Param::Int(limit as i64));
        let from = Param::Uuid(from.map(KeyId::uuid).unwrap_or_default());
        match user {
            Some(user) => {
                let params = [own, Param::Uuid(user.uuid()), from, limit];
                self.tx.conn.query(&PAGE_OF, &params, read)
            }
            None => self.tx.conn.query(&PAGE, &[own, from, limit], read),
        }
    }

    /// Counts the keys of a user that open something at this time.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn live(&mut self, tenant: TenantId, user: UserId, now: Timestamp) -> Result<i64> {
        self.tx.reaches(tenant)?;
        let params =
            [Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid()), Param::Int(micros(now))];
        Ok(self.tx.conn.first(&LIVE, &params, |row| row.int(0))?.unwrap_or_default())
    }

    /// Sets when a key ends.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn expire(&mut self, tenant: TenantId, id: KeyId, at: Timestamp) -> Result<()> {
        self.set(&EXPIRE, tenant, id, at).map(drop)
    }

    /// Revokes a key; `false` if it was revoked before.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn revoke(&mut self, tenant: TenantId, id: KeyId, now: Timestamp) -> Result<bool> {
        self.set(&REVOKE, tenant, id, now)
    }

    /// Notes when a key was used.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn used(&mut self, tenant: TenantId, id: KeyId, now: Timestamp) -> Result<()> {
        self.set(&USED, tenant, id, now).map(drop)
    }

    fn set(
        &mut self,
        statement: &'static crate::statement::Statement,
        tenant: TenantId,
        id: KeyId,
        at: Timestamp,
    ) -> Result<bool> {
        self.tx.reaches(tenant)?;
        let params = [Param::Int(micros(at)), Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(statement, &params)? == 1)
    }

    /// Gives all keys of a user another name: a person is erased.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn rename_of(&mut self, tenant: TenantId, user: UserId, name: &KeyName) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let (own, user) = (Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid()));
        self.tx.conn.execute(&RENAME, &[Param::Text(name.as_str()), own, user])
    }

    /// Revokes all keys of a user, or those with a name; returns how many there were.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn revoke_of(
        &mut self,
        tenant: TenantId,
        user: UserId,
        name: Option<&KeyName>,
        now: Timestamp,
    ) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let (own, user) = (Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid()));
        let now = Param::Int(micros(now));
        match name {
            Some(name) => {
                let params = [now, own, user, Param::Text(name.as_str())];
                self.tx.conn.execute(&REVOKE_NAMED, &params)
            }
            None => self.tx.conn.execute(&REVOKE_ALL, &[now, own, user]),
        }
    }
}

fn read(row: &Row<'_>) -> Result<KeyRecord> {
    let broken = |cause: Invalid| Error::Unreadable { what: "key", cause: cause.into() };
    let scopes = row.text(5)?;
    Ok(KeyRecord {
        tenant: row.uuid(0)?.into(),
        id: row.uuid(1)?.into(),
        user: row.uuid(2)?.into(),
        name: row.text(3)?.parse().map_err(broken)?,
        prefix: row.text(4)?,
        scopes: scopes
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(broken)?,
        created_at: from_micros(row.int(6)?),
        expires_at: row.opt_int(7)?.map(from_micros),
        revoked_at: row.opt_int(8)?.map(from_micros),
        used_at: row.opt_int(9)?.map(from_micros),
    })
}
