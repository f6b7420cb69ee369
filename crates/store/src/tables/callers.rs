//! Who stands behind a credential: the key or login, its person, projects and tenant in one read.
//!
//! Each request of a caller that is not in memory asks this, so it is one statement, not five.

use godel_model::{
    Invalid, KeyHash, KeyId, Permission, ProjectId, Role, SessionId, TenantId, UserId, UserName,
    UserStatus, from_micros,
};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    BY_KEY_HASH = "caller_by_key_hash":
        "SELECT k.tenant, k.person, p.name, p.role, p.status, t.disabled_at, m.project,
                k.id, k.scopes, k.expires_at, k.revoked_at, k.used_at
         FROM api_key k
         JOIN person p ON p.id = k.person AND p.tenant = k.tenant
         JOIN tenant t ON t.tenant = k.tenant
         LEFT JOIN membership m ON m.tenant = k.tenant AND m.person = k.person
         WHERE k.hash = $1";
    BY_KEY = "caller_by_key":
        "SELECT k.tenant, k.person, p.name, p.role, p.status, t.disabled_at, m.project,
                k.id, k.scopes, k.expires_at, k.revoked_at, k.used_at
         FROM api_key k
         JOIN person p ON p.id = k.person AND p.tenant = k.tenant
         JOIN tenant t ON t.tenant = k.tenant
         LEFT JOIN membership m ON m.tenant = k.tenant AND m.person = k.person
         WHERE k.tenant = $1 AND k.id = $2";
    BY_SESSION = "caller_by_session":
        "SELECT s.tenant, s.person, p.name, p.role, p.status, t.disabled_at, m.project,
                k.id, k.scopes, k.expires_at, k.revoked_at, k.used_at,
                s.id, s.api_key, s.expires_at, s.ended_at
         FROM session s
         JOIN person p ON p.id = s.person AND p.tenant = s.tenant
         JOIN tenant t ON t.tenant = s.tenant
         LEFT JOIN api_key k ON k.id = s.api_key AND k.tenant = s.tenant
         LEFT JOIN membership m ON m.tenant = s.tenant AND m.person = s.person
         WHERE s.id = $1";
}

/// Who stands behind a credential, whether it still opens anything or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerRecord {
    /// The tenant it opens.
    pub tenant: TenantId,
    /// Whose credential it is.
    pub user: UserId,
    /// The name of the user.
    pub name: UserName,
    /// What the user is in the tenant.
    pub role: Role,
    /// Whether account and tenant can be used.
    pub open: bool,
    /// The projects the user works in; none means all.
    pub projects: Vec<ProjectId>,
    /// The key itself, or the one that opened the login.
    pub key: Option<CallerKey>,
    /// The login, if that is the credential.
    pub session: Option<CallerSession>,
}

/// What a caller's key says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerKey {
    /// The id.
    pub id: KeyId,
    /// What it is narrowed to; empty means all that its user may do.
    pub scopes: Vec<Permission>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub used_at: Option<Timestamp>,
}

/// What a caller's login says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerSession {
    /// The id.
    pub id: SessionId,
    /// Until when.
    pub expires_at: Timestamp,
    /// When it was ended before that.
    pub ended_at: Option<Timestamp>,
}

impl CallerRecord {
    /// Returns when the credential ends, if it does.
    pub fn expires_at(&self) -> Option<Timestamp> {
        match (&self.session, &self.key) {
            (Some(session), _) => Some(session.expires_at),
            (None, key) => key.as_ref().and_then(|key| key.expires_at),
        }
    }

    /// Tells whether the credential opens anything at this time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        let ahead = |at: Option<Timestamp>| at.is_none_or(|at| at > now);
        let key = self.key.as_ref();
        let session = self.session.as_ref();
        self.open
            && key.is_none_or(|key| ahead(key.revoked_at) && ahead(key.expires_at))
            && session.is_none_or(|login| login.ended_at.is_none() && login.expires_at > now)
    }
}

/// Who stands behind a credential.
pub struct Callers<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Callers<'_, '_> {
    /// Finds who has the key with this hash.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_key_hash(&mut self, hash: KeyHash) -> Result<Option<CallerRecord>> {
        self.tx.system()?;
        Ok(fold(self.tx.conn.query(&BY_KEY_HASH, &[Param::Bytes(&hash.0)], by_key)?))
    }

    /// Finds who has a key.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn by_key(&mut self, tenant: TenantId, id: KeyId) -> Result<Option<CallerRecord>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        Ok(fold(self.tx.conn.query(&BY_KEY, &params, by_key)?))
    }

    /// Finds who has a login; nobody, if the key that opened it is gone.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_session(&mut self, id: SessionId) -> Result<Option<CallerRecord>> {
        self.tx.system()?;
        let rows = self.tx.conn.query(&BY_SESSION, &[Param::Uuid(id.uuid())], by_session)?;
        Ok(fold(rows.into_iter().flatten().collect()))
    }
}

/// Puts the rows of one caller together: there is one for each project.
fn fold(rows: Vec<CallerRecord>) -> Option<CallerRecord> {
    let mut caller = rows.into_iter().reduce(|mut first, next| {
        first.projects.extend(next.projects);
        first
    })?;
    caller.projects.sort_unstable();
    Some(caller)
}

fn by_key(row: &Row<'_>) -> Result<CallerRecord> {
    let id = row.uuid(7)?.into();
    person(row, Some(key(row, id)?), None)
}

fn by_session(row: &Row<'_>) -> Result<Option<CallerRecord>> {
    let session = CallerSession {
        id: row.uuid(12)?.into(),
        expires_at: from_micros(row.int(14)?),
        ended_at: row.opt_int(15)?.map(from_micros),
    };
    let key = match (row.opt_uuid(13)?, row.opt_uuid(7)?) {
        (None, _) => None,
        // Without the key that opened it there is no login.
        (Some(_), None) => return Ok(None),
        (Some(_), Some(id)) => Some(key(row, id.into())?),
    };
    person(row, key, Some(session)).map(Some)
}

/// Reads the columns that every statement has.
fn person(
    row: &Row<'_>,
    key: Option<CallerKey>,
    session: Option<CallerSession>,
) -> Result<CallerRecord> {
    Ok(CallerRecord {
        tenant: row.uuid(0)?.into(),
        user: row.uuid(1)?.into(),
        name: row.text(2)?.parse().map_err(broken)?,
        role: row.text(3)?.parse().map_err(broken)?,
        open: row.text(4)? == UserStatus::Active.as_str() && row.opt_int(5)?.is_none(),
        projects: row.opt_uuid(6)?.map(ProjectId::from).into_iter().collect(),
        key,
        session,
    })
}

fn key(row: &Row<'_>, id: KeyId) -> Result<CallerKey> {
    let scopes = row.text(8)?;
    let scopes = scopes.split_whitespace().map(str::parse).collect::<Result<_, _>>();
    Ok(CallerKey {
        id,
        scopes: scopes.map_err(broken)?,
        expires_at: row.opt_int(9)?.map(from_micros),
        revoked_at: row.opt_int(10)?.map(from_micros),
        used_at: row.opt_int(11)?.map(from_micros),
    })
}

fn broken(cause: Invalid) -> Error {
    Error::Unreadable { what: "caller", cause: cause.into() }
}
