//! Programs that wait for a person to let them in.

use godel_model::{KeyHash, TenantId, UserId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "device_insert":
        "INSERT INTO device (hash, user_code, name, status, expires_at)
         VALUES ($1, $2, $3, 'waiting', $4)";
    BY_CODE = "device_by_code":
        "SELECT tenant, person, name, status, expires_at FROM device WHERE user_code = $1";
    BY_HASH = "device_by_hash":
        "SELECT tenant, person, name, status, expires_at FROM device WHERE hash = $1";
    ANSWER = "device_answer":
        "UPDATE device SET tenant = $1, person = $2, status = $3
         WHERE user_code = $4 AND status = 'waiting'";
    DELETE = "device_delete": "DELETE FROM device WHERE hash = $1";
    PURGE = "device_purge": "DELETE FROM device WHERE expires_at <= $1";
    COUNT = "device_count": "SELECT COUNT(*) FROM device WHERE expires_at > $1";
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceStatus {
    /// Nothing yet.
    Waiting,
    /// Let it in.
    Approved,
    /// Do not let it in.
    Refused,
}

impl DeviceStatus {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Refused => "refused",
        }
    }
}

/// A program that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceRecord {
    /// Who let it in, in which tenant.
    pub by: Option<(TenantId, UserId)>,
    /// What it calls itself.
    pub name: String,
    /// What was answered.
    pub status: DeviceStatus,
    /// Until when it waits.
    pub expires_at: Timestamp,
}

/// Programs that wait for a person to let them in.
pub struct Devices<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Devices<'_, '_> {
    /// Adds a program that waits.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn insert(
        &mut self,
        hash: KeyHash,
        code: &str,
        name: &str,
        until: Timestamp,
    ) -> Result<()> {
        self.tx.system()?;
        let params = [
            Param::Bytes(&hash.0),
            Param::Text(code),
            Param::Text(name),
            Param::Int(micros(until)),
        ];
        self.tx.conn.execute(&INSERT, &params).map(drop)
    }

    /// Finds a program by the code that it shows to people.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_code(&mut self, code: &str) -> Result<Option<DeviceRecord>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_CODE, &[Param::Text(code)], read)
    }

    /// Finds a program by the hash of its own secret.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn by_hash(&mut self, hash: KeyHash) -> Result<Option<DeviceRecord>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_HASH, &[Param::Bytes(&hash.0)], read)
    }

    /// Stores a person's answer; `false` if there was one before.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn answer(
        &mut self,
        code: &str,
        by: (TenantId, UserId),
        status: DeviceStatus,
    ) -> Result<bool> {
        self.tx.system()?;
        let params = [
            Param::Uuid(by.0.uuid()),
            Param::Uuid(by.1.uuid()),
            Param::Text(status.as_str()),
            Param::Text(code),
        ];
        Ok(self.tx.conn.execute(&ANSWER, &params)? == 1)
    }

    /// Removes a program; `false` if it was not there.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn delete(&mut self, hash: KeyHash) -> Result<bool> {
        self.tx.system()?;
        Ok(self.tx.conn.execute(&DELETE, &[Param::Bytes(&hash.0)])? == 1)
    }

    /// Counts the programs that wait at this time.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn count(&mut self, now: Timestamp) -> Result<i64> {
        self.tx.system()?;
        let now = [Param::Int(micros(now))];
        Ok(self.tx.conn.first(&COUNT, &now, |row| row.int(0))?.unwrap_or_default())
    }

    /// Removes programs that have waited too long.
    ///
    /// # Errors
    /// If the scope is not the system, or the database fails.
    pub fn purge(&mut self, now: Timestamp) -> Result<u64> {
        self.tx.system()?;
        self.tx.conn.execute(&PURGE, &[Param::Int(micros(now))])
    }
}

fn read(row: &Row<'_>) -> Result<DeviceRecord> {
    let by = match (row.opt_uuid(0)?, row.opt_uuid(1)?) {
        (Some(tenant), Some(user)) => Some((tenant.into(), user.into())),
        _ => None,
    };
    Ok(DeviceRecord {
        by,
        name: row.text(2)?,
        status: match row.text(3)?.as_str() {
            "approved" => DeviceStatus::Approved,
            "refused" => DeviceStatus::Refused,
            _ => DeviceStatus::Waiting,
        },
        expires_at: from_micros(row.int(4)?),
    })
}
