//! The record of who did what.

use godel_model::chain::{AuditKey, Bound, End, Hash, Link};
use godel_model::{AuditEntry, AuditResult, AuditRow, TenantId, UserId, from_micros, micros};

use crate::statement::{Conn, Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    INSERT = "audit_insert":
        "INSERT INTO audit (tenant, seq, at, person, action, resource, result, trace, detail,
                            personal, digest, mac)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    NEWEST = "audit_head_newest": "SELECT seq, mac FROM audit_head WHERE tenant = $1";
    ENDS = "audit_head_read":
        "SELECT seq, mac, seal, trimmed, trimmed_mac, trimmed_seal FROM audit_head
         WHERE tenant = $1";
    SET_HEAD = "audit_head_set":
        "INSERT INTO audit_head (tenant, seq, mac, seal, trimmed, trimmed_mac, trimmed_seal)
         VALUES ($1, $2, $3, $4, 0, $5, $6)
         ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, mac = excluded.mac,
             seal = excluded.seal";
    FORWARD = "audit_forward":
        "SELECT seq, at, person, action, resource, result, trace, detail, personal, digest, mac
         FROM audit WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    BACKWARD = "audit_backward":
        "SELECT seq, at, person, action, resource, result, trace, detail, personal, digest, mac
         FROM audit WHERE tenant = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
    BACKWARD_OF = "audit_backward_of":
        "SELECT seq, at, person, action, resource, result, trace, detail, personal, digest, mac
         FROM audit WHERE tenant = $1 AND person = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4";
    ERASE = "audit_erase":
        "UPDATE audit SET personal = NULL
         WHERE tenant = $1 AND person = $2 AND personal IS NOT NULL";
    RESTART = "audit_head_restart":
        "UPDATE audit_head SET trimmed = $1, trimmed_mac = $2, trimmed_seal = $3, seal = $4
         WHERE tenant = $5";
    TRIM = "audit_trim": "DELETE FROM audit WHERE tenant = $1 AND seq <= $2";
    SET_TRIMMED = "audit_head_set_trimmed":
        "UPDATE audit_head SET trimmed = $1, trimmed_mac = $2, trimmed_seal = $3
         WHERE tenant = $4 AND trimmed < $1";
}

/// The two ends of a chain, with their seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// The newest row.
    pub newest: Link,
    /// The seal of the newest row.
    pub seal: Hash,
    /// The newest row that retention took.
    pub trimmed: Link,
    /// The seal of it.
    pub trimmed_seal: Hash,
}

/// A row, and the text of what tells who somebody is as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRow {
    /// The row.
    pub row: AuditRow,
    /// The text that its digest stands for.
    pub personal: Option<String>,
}

/// The record of acts of a tenant.
pub struct Audit<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Audit<'_, '_> {
    /// Returns the two ends of the chain; `None` if nothing was ever recorded.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn ends(&mut self) -> Result<Option<Ends>> {
        let tenant = self.tx.tenant()?;
        self.ends_of(tenant)
    }

    /// Returns the two ends of a tenant's chain; `None` if nothing was ever recorded.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn ends_of(&mut self, tenant: TenantId) -> Result<Option<Ends>> {
        self.tx.reaches(tenant)?;
        let tenant = Param::Uuid(tenant.uuid());
        self.tx.conn.first(&ENDS, &[tenant], |row| {
            Ok(Ends {
                newest: Link { seq: row.int(0)?, mac: hash(row, 1)? },
                seal: hash(row, 2)?,
                trimmed: Link { seq: row.int(3)?, mac: hash(row, 4)? },
                trimmed_seal: hash(row, 5)?,
            })
        })
    }

    /// Reads rows behind a place, oldest first.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn forward(&mut self, after: i64, limit: usize) -> Result<Vec<StoredRow>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [tenant, Param::Int(after), Param::Int(limit as i64)];
        self.tx.conn.query(&FORWARD, &params, read)
    }

    /// Reads rows before a place, newest first, of one user or of all.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn backward(
        &mut self,
        user: Option<UserId>,
        before: i64,
        limit: usize,
    ) -> Result<Vec<StoredRow>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let (before, limit) = (Param::Int(before), Param::Int(limit as i64));
        match user {
            Some(user) => {
                let params = [tenant, Param::Uuid(user.uuid()), before, limit];
                self.tx.conn.query(&BACKWARD_OF, &params, read)
            }
            None => self.tx.conn.query(&BACKWARD, &[tenant, before, limit], read),
        }
    }

    /// Removes what tells who a user is; the chain stays whole.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn erase(&mut self, user: UserId) -> Result<u64> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(user.uuid())];
        self.tx.conn.execute(&ERASE, &params)
    }

    /// Begins a tenant's chain anew behind its newest row, under another key.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn restart(&mut self, tenant: TenantId, key: &AuditKey) -> Result<()> {
        let Some(Ends { newest, .. }) = self.ends_of(tenant)? else { return Ok(()) };
        let (seal, trimmed) =
            (key.seal(tenant, End::Newest, &newest), key.seal(tenant, End::Trimmed, &newest));
        let params = [
            Param::Int(newest.seq),
            Param::Bytes(&newest.mac),
            Param::Bytes(&trimmed),
            Param::Bytes(&seal),
            Param::Uuid(tenant.uuid()),
        ];
        self.tx.conn.execute(&RESTART, &params).map(drop)
    }

    /// Removes all rows up to one; the chain begins behind it from now on.
    ///
    /// # Errors
    /// If the scope is not a tenant, or the database fails.
    pub fn trim(&mut self, upto: &Link, seal: &Hash) -> Result<u64> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let gone = self.tx.conn.execute(&TRIM, &[tenant, Param::Int(upto.seq)])?;
        let params = [Param::Int(upto.seq), Param::Bytes(&upto.mac), Param::Bytes(seal), tenant];
        self.tx.conn.execute(&SET_TRIMMED, &params)?;
        Ok(gone)
    }
}

/// Returns the newest row of a tenant's chain.
pub(crate) fn newest(conn: &mut Conn<'_>, tenant: TenantId) -> Result<Link> {
    let found = conn.first(&NEWEST, &[Param::Uuid(tenant.uuid())], |row| {
        Ok(Link { seq: row.int(0)?, mac: hash(row, 1)? })
    })?;
    Ok(found.unwrap_or_default())
}

/// Stores the newest row of a tenant's chain, and the beginning if it is a new one.
pub(crate) fn set_newest(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    newest: &Link,
    seal: &Hash,
    start_seal: &Hash,
) -> Result<()> {
    let params = [
        Param::Uuid(tenant.uuid()),
        Param::Int(newest.seq),
        Param::Bytes(&newest.mac),
        Param::Bytes(seal),
        Param::Bytes(&[0; 32]),
        Param::Bytes(start_seal),
    ];
    conn.execute(&SET_HEAD, &params).map(drop)
}

/// Inserts one row at its place.
pub(crate) fn insert(conn: &mut Conn<'_>, tenant: TenantId, bound: &Bound) -> Result<()> {
    let AuditRow { seq, entry, digest, mac } = &bound.row;
    let params = [
        Param::Uuid(tenant.uuid()),
        Param::Int(*seq),
        Param::Int(micros(entry.at)),
        entry.user.map(UserId::uuid).into(),
        Param::Text(&entry.action),
        Param::Text(&entry.resource),
        Param::Text(entry.result.as_str()),
        entry.trace_id.as_deref().into(),
        Param::Text(&entry.detail),
        bound.personal.as_deref().into(),
        Param::Bytes(digest),
        Param::Bytes(mac),
    ];
    conn.execute(&INSERT, &params).map(drop)
}

fn hash(row: &Row<'_>, column: usize) -> Result<Hash> {
    row.bytes(column)?.try_into().map_err(|bytes: Vec<u8>| Error::Unreadable {
        what: "hash of the record of acts",
        cause: format!("it has {} bytes", bytes.len()).into(),
    })
}

fn read(row: &Row<'_>) -> Result<StoredRow> {
    let (result, personal) = (row.text(5)?, row.opt_text(8)?);
    let entry = AuditEntry {
        at: from_micros(row.int(1)?),
        user: row.opt_uuid(2)?.map(UserId::from),
        action: row.text(3)?,
        resource: row.text(4)?,
        // A value that nobody wrote must not hide the row: its hash tells that it was altered.
        result: AuditResult::from_name(&result).unwrap_or(AuditResult::Denied),
        trace_id: row.opt_text(6)?,
        detail: row.text(7)?,
        personal: personal.as_deref().and_then(|text| serde_json::from_str(text).ok()),
    };
    let row = AuditRow { seq: row.int(0)?, entry, digest: hash(row, 9)?, mac: hash(row, 10)? };
    Ok(StoredRow { row, personal })
}
