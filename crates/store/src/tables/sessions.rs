//! Logins that last.

use godel_model::{KeyId, SessionId, TenantId, UserId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "session_insert":
        "INSERT INTO session (tenant, id, person, api_key, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)";
    BY_ID = "session_by_id":
        "SELECT tenant, id, person, api_key, created_at, expires_at, ended_at FROM session
         WHERE id = $1";
    EXTEND = "session_extend": "UPDATE session SET expires_at = $1 WHERE tenant = $2 AND id = $3";
    END = "session_end":
        "UPDATE session SET ended_at = $1 WHERE tenant = $2 AND id = $3 AND ended_at IS NULL";
    END_ALL = "session_end_all":
        "UPDATE session SET ended_at = $1
         WHERE tenant = $2 AND person = $3 AND ended_at IS NULL";
    END_OTHERS = "session_end_others":
        "UPDATE session SET ended_at = $1
         WHERE tenant = $2 AND person = $3 AND id <> $4 AND ended_at IS NULL";
    PURGE_TOKENS = "session_purge_tokens":
        "DELETE FROM token WHERE session IN (SELECT id FROM session WHERE expires_at <= $1)";
    PURGE = "session_purge": "DELETE FROM session WHERE expires_at <= $1";
}

/// A login that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The tenant it opens.
    pub tenant: TenantId,
    /// The id.
    pub id: SessionId,
    /// Who is logged in.
    pub user: UserId,
    /// The key that opened it; the login ends with the key.
    pub key: Option<KeyId>,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when.
    pub expires_at: Timestamp,
    /// When it was ended before that.
    pub ended_at: Option<Timestamp>,
}

impl SessionRecord {
    /// Tells whether the login holds at this time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && self.expires_at > now
    }
}

/// Logins that last.
pub struct Sessions<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Sessions<'_, '_> {
    /// Adds a session.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn insert(&mut self, session: &SessionRecord) -> Result<()> {
        self.tx.reaches(session.tenant)?;
        let params = [
            Param::Uuid(session.tenant.uuid()),
            Param::Uuid(session.id.uuid()),
            Param::Uuid(session.user.uuid()),
            session.key.map(KeyId::uuid).into(),
            Param::Int(micros(session.created_at)),
            Param::Int(micros(session.expires_at)),
        ];
        self.tx.conn.execute(&INSERT, &params).map(drop)
    }

    /// Finds a session, whoever's it is.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_id(&mut self, id: SessionId) -> Result<Option<SessionRecord>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_ID, &[Param::Uuid(id.uuid())], read)
    }

    /// Lets a session last longer.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn extend(&mut self, tenant: TenantId, id: SessionId, until: Timestamp) -> Result<()> {
        self.tx.reaches(tenant)?;
        let params =
            [Param::Int(micros(until)), Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.execute(&EXTEND, &params).map(drop)
    }

    /// Ends a session; `false` if it had ended before.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn end(&mut self, tenant: TenantId, id: SessionId, now: Timestamp) -> Result<bool> {
        self.tx.reaches(tenant)?;
        let params = [Param::Int(micros(now)), Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&END, &params)? == 1)
    }

    /// Ends all sessions of a user; returns how many there were.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn end_of(&mut self, tenant: TenantId, user: UserId, now: Timestamp) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let params =
            [Param::Int(micros(now)), Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid())];
        self.tx.conn.execute(&END_ALL, &params)
    }

    /// Ends all sessions of a user but one; returns how many there were.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn end_others(
        &mut self,
        tenant: TenantId,
        user: UserId,
        but: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let params = [
            Param::Int(micros(now)),
            Param::Uuid(tenant.uuid()),
            Param::Uuid(user.uuid()),
            Param::Uuid(but.map(SessionId::uuid).unwrap_or_default()),
        ];
        self.tx.conn.execute(&END_OTHERS, &params)
    }

    /// Removes sessions that have expired, and their secrets.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn purge(&mut self, now: Timestamp) -> Result<u64> {
        self.tx.system()?;
        let now = [Param::Int(micros(now))];
        self.tx.conn.execute(&PURGE_TOKENS, &now)?;
        self.tx.conn.execute(&PURGE, &now)
    }
}

fn read(row: &Row<'_>) -> Result<SessionRecord> {
    Ok(SessionRecord {
        tenant: row.uuid(0)?.into(),
        id: row.uuid(1)?.into(),
        user: row.uuid(2)?.into(),
        key: row.opt_uuid(3)?.map(KeyId::from),
        created_at: from_micros(row.int(4)?),
        expires_at: from_micros(row.int(5)?),
        ended_at: row.opt_int(6)?.map(from_micros),
    })
}
