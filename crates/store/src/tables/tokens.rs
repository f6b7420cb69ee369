//! Secrets of logins, stored as hashes: of links, cookies, refresh tokens and tickets.

use godel_model::{KeyHash, KeyId, SessionId, TenantId, UserId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "token_insert":
        "INSERT INTO token (tenant, hash, purpose, person, session, api_key, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    FIND = "token_find":
        "SELECT tenant, person, session, api_key, expires_at, used_at FROM token
         WHERE hash = $1 AND purpose = $2";
    USE = "token_use":
        "UPDATE token SET used_at = $1 WHERE hash = $2 AND purpose = $3 AND used_at IS NULL";
    FORGET = "token_forget": "DELETE FROM token WHERE tenant = $1 AND person = $2 AND purpose = $3";
    PURGE = "token_purge": "DELETE FROM token WHERE expires_at <= $1";
}

/// What a secret of a login is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A link that opens a session, once.
    Link,
    /// The cookie of a browser.
    Cookie,
    /// Gets new tokens for a program, once.
    Refresh,
    /// Opens a WebSocket, once.
    Ticket,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Cookie => "cookie",
            Self::Refresh => "refresh",
            Self::Ticket => "ticket",
        }
    }
}

/// What is known of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// The tenant it opens.
    pub tenant: TenantId,
    /// On whose behalf it was made.
    pub user: UserId,
    /// The login it belongs to.
    pub session: Option<SessionId>,
    /// The key by which its maker was known.
    pub key: Option<KeyId>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was used, if it can be used once only.
    pub used_at: Option<Timestamp>,
}

/// Secrets of logins.
pub struct Tokens<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Tokens<'_, '_> {
    /// Adds a secret.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn insert(&mut self, purpose: Purpose, hash: KeyHash, token: &TokenRecord) -> Result<()> {
        self.tx.reaches(token.tenant)?;
        let params = [
            Param::Uuid(token.tenant.uuid()),
            Param::Bytes(&hash.0),
            Param::Text(purpose.as_str()),
            Param::Uuid(token.user.uuid()),
            token.session.map(SessionId::uuid).into(),
            token.key.map(KeyId::uuid).into(),
            Param::Int(micros(token.expires_at)),
        ];
        self.tx.conn.execute(&INSERT, &params).map(drop)
    }

    /// Finds a secret, whether it was used or has expired or not.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn find(&mut self, purpose: Purpose, hash: KeyHash) -> Result<Option<TokenRecord>> {
        self.tx.system()?;
        let params = [Param::Bytes(&hash.0), Param::Text(purpose.as_str())];
        self.tx.conn.first(&FIND, &params, read)
    }

    /// Uses a secret up; `false` if somebody else was faster.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn use_up(&mut self, purpose: Purpose, hash: KeyHash, now: Timestamp) -> Result<bool> {
        self.tx.system()?;
        let params =
            [Param::Int(micros(now)), Param::Bytes(&hash.0), Param::Text(purpose.as_str())];
        Ok(self.tx.conn.execute(&USE, &params)? == 1)
    }

    /// Removes all secrets of a user that are for one purpose.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn forget(&mut self, tenant: TenantId, user: UserId, purpose: Purpose) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let params =
            [Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid()), Param::Text(purpose.as_str())];
        self.tx.conn.execute(&FORGET, &params)
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

fn read(row: &Row<'_>) -> Result<TokenRecord> {
    Ok(TokenRecord {
        tenant: row.uuid(0)?.into(),
        user: row.uuid(1)?.into(),
        session: row.opt_uuid(2)?.map(SessionId::from),
        key: row.opt_uuid(3)?.map(KeyId::from),
        expires_at: from_micros(row.int(4)?),
        used_at: row.opt_int(5)?.map(from_micros),
    })
}
