//! Secrets, encrypted before they come here, and the keys they are encrypted with, wrapped.

use godel_model::{Invalid, SecretName, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    PUT = "secret_put":
        "INSERT INTO secret (tenant, name, version, cipher, data_key, last4, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (tenant, name) DO UPDATE SET version = excluded.version,
             cipher = excluded.cipher, data_key = excluded.data_key, last4 = excluded.last4,
             updated_at = excluded.updated_at";
    GET = "secret_get":
        "SELECT name, version, cipher, data_key, last4, created_at, updated_at, used_at FROM secret
         WHERE tenant = $1 AND name = $2";
    LIST = "secret_list":
        "SELECT name, version, cipher, data_key, last4, created_at, updated_at, used_at FROM secret
         WHERE tenant = $1 ORDER BY name";
    DELETE = "secret_delete": "DELETE FROM secret WHERE tenant = $1 AND name = $2";
    USED = "secret_used": "UPDATE secret SET used_at = $1 WHERE tenant = $2 AND name = $3";
    KEY_INSERT = "data_key_insert":
        "INSERT INTO data_key (name, master, cipher, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (name) DO NOTHING";
    KEY_LIST = "data_key_list": "SELECT name, master, cipher, created_at FROM data_key ORDER BY name";
    CLEAR = "secret_clear": "DELETE FROM secret";
    KEY_CLEAR = "data_key_clear": "DELETE FROM data_key";
    KEY_WRAP = "data_key_wrap": "UPDATE data_key SET master = $1, cipher = $2 WHERE name = $3";
}

/// A secret as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRecord {
    /// The name.
    pub name: SecretName,
    /// Counts the values that it had.
    pub version: i64,
    /// The encrypted value.
    pub cipher: Vec<u8>,
    /// The name of the key it is encrypted with.
    pub data_key: String,
    /// The last four characters of the value, if it is long enough to show them.
    pub last4: String,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When its value was last set.
    pub updated_at: Timestamp,
    /// When its value was last used.
    pub used_at: Option<Timestamp>,
}

/// A key that the master key wraps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKeyRecord {
    /// The name.
    pub name: String,
    /// Which master key wraps it.
    pub master: String,
    /// The wrapped key.
    pub cipher: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The secrets of a tenant, and the keys of this server.
pub struct Secrets<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Secrets<'_, '_> {
    /// Stores a secret, in place of an older value.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn put(&mut self, secret: &SecretRecord) -> Result<()> {
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Text(secret.name.as_str()),
            Param::Int(secret.version),
            Param::Bytes(&secret.cipher),
            Param::Text(&secret.data_key),
            Param::Text(&secret.last4),
            Param::Int(micros(secret.created_at)),
            Param::Int(micros(secret.updated_at)),
        ];
        self.tx.conn.execute(&PUT, &params).map(drop)
    }

    /// Finds a secret.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn get(&mut self, name: &SecretName) -> Result<Option<SecretRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(name.as_str())];
        self.tx.conn.first(&GET, &params, read)
    }

    /// Lists the tenant's secrets by name.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn list(&mut self) -> Result<Vec<SecretRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid())];
        self.tx.conn.query(&LIST, &params, read)
    }

    /// Removes a secret; `false` if it was not there.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn delete(&mut self, name: &SecretName) -> Result<bool> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(name.as_str())];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }

    /// Notes that a secret was used.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn used(&mut self, name: &SecretName, now: Timestamp) -> Result<()> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [Param::Int(micros(now)), tenant, Param::Text(name.as_str())];
        self.tx.conn.execute(&USED, &params).map(drop)
    }

    /// Adds a wrapped key; `false` if there is one with this name.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn insert_key(&mut self, key: &DataKeyRecord) -> Result<bool> {
        self.tx.system()?;
        let params = [
            Param::Text(&key.name),
            Param::Text(&key.master),
            Param::Bytes(&key.cipher),
            Param::Int(micros(key.created_at)),
        ];
        Ok(self.tx.conn.execute(&KEY_INSERT, &params)? == 1)
    }

    /// Lists the wrapped keys by name.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn keys(&mut self) -> Result<Vec<DataKeyRecord>> {
        self.tx.system()?;
        self.tx.conn.query(&KEY_LIST, &[], |row| {
            Ok(DataKeyRecord {
                name: row.text(0)?,
                master: row.text(1)?,
                cipher: row.bytes(2)?,
                created_at: from_micros(row.int(3)?),
            })
        })
    }

    /// Removes all keys, and all secrets of all tenants, which nobody can read without them; returns
    /// how many secrets there were.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn clear(&mut self) -> Result<u64> {
        self.tx.system()?;
        self.tx.conn.execute(&KEY_CLEAR, &[])?;
        self.tx.conn.execute(&CLEAR, &[])
    }

    /// Stores a key that another master key wraps from now on.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn rewrap_key(&mut self, key: &DataKeyRecord) -> Result<()> {
        self.tx.system()?;
        let params = [Param::Text(&key.master), Param::Bytes(&key.cipher), Param::Text(&key.name)];
        self.tx.conn.execute(&KEY_WRAP, &params).map(drop)
    }
}

fn read(row: &Row<'_>) -> Result<SecretRecord> {
    let broken = |cause: Invalid| Error::Unreadable { what: "secret", cause: cause.into() };
    Ok(SecretRecord {
        name: row.text(0)?.parse().map_err(broken)?,
        version: row.int(1)?,
        cipher: row.bytes(2)?,
        data_key: row.text(3)?,
        last4: row.text(4)?,
        created_at: from_micros(row.int(5)?),
        updated_at: from_micros(row.int(6)?),
        used_at: row.opt_int(7)?.map(from_micros),
    })
}
