//! Login links (used once) and browser sessions, stored as hashes.

use godel_model::{KeyHash, KeyId, TenantId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "login_insert":
        "INSERT INTO login (tenant, hash, purpose, key_id, expires_at) VALUES ($1, $2, $3, $4, $5)";
    FIND = "login_find":
        "SELECT tenant, key_id, expires_at FROM login
         WHERE hash = $1 AND purpose = $2 AND expires_at > $3";
    DELETE = "login_delete": "DELETE FROM login WHERE hash = $1 AND purpose = $2";
    PURGE = "login_purge": "DELETE FROM login WHERE expires_at <= $1";
}

/// What a login secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A link that opens a session, once.
    Link,
    /// A browser session.
    Session,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Session => "session",
        }
    }
}

/// What is known of a login secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The tenant it opens.
    pub tenant: TenantId,
    /// The key on whose behalf it was made.
    pub key: KeyId,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// Login links and browser sessions.
pub struct Logins<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Logins<'_, '_> {
    /// Adds a secret.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn insert(&mut self, purpose: Purpose, hash: KeyHash, login: &Login) -> Result<()> {
        self.tx.system()?;
        let params = [
            Param::Uuid(login.tenant.uuid()),
            Param::Bytes(&hash.0),
            Param::Text(purpose.as_str()),
            Param::Uuid(login.key.uuid()),
            Param::Int(micros(login.expires_at)),
        ];
        self.tx.conn.execute(&INSERT, &params)?;
        Ok(())
    }

    /// Finds a secret that has not expired.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn find(
        &mut self,
        purpose: Purpose,
        hash: KeyHash,
        now: Timestamp,
    ) -> Result<Option<Login>> {
        self.tx.system()?;
        let params =
            [Param::Bytes(&hash.0), Param::Text(purpose.as_str()), Param::Int(micros(now))];
        self.tx.conn.first(&FIND, &params, read)
    }

    /// Removes a secret; `false` if it was not there, for example because it was used already.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn delete(&mut self, purpose: Purpose, hash: KeyHash) -> Result<bool> {
        self.tx.system()?;
        let params = [Param::Bytes(&hash.0), Param::Text(purpose.as_str())];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }

    /// Removes what has expired.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn purge(&mut self, now: Timestamp) -> Result<u64> {
        self.tx.system()?;
        self.tx.conn.execute(&PURGE, &[Param::Int(micros(now))])
    }
}

fn read(row: &Row<'_>) -> Result<Login> {
    Ok(Login {
        tenant: row.uuid(0)?.into(),
        key: row.uuid(1)?.into(),
        expires_at: from_micros(row.int(2)?),
    })
}
