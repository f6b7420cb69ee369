//! Tasks that come again and again.

use godel_model::{Schedule, ScheduleId, TenantId, UserId, from_micros, micros};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    INSERT = "schedule_insert":
        "INSERT INTO schedule (tenant, id, name, asked, paused, next_at, last_at, created_at, person)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (tenant, name) DO NOTHING";
    UPDATE = "schedule_update":
        "UPDATE schedule SET paused = $1, next_at = $2, last_at = $3 WHERE tenant = $4 AND id = $5";
    ADVANCE = "schedule_advance":
        "UPDATE schedule SET next_at = $1, last_at = $2
         WHERE tenant = $3 AND id = $4 AND next_at = $5 AND paused = 0";
    DELETE = "schedule_delete": "DELETE FROM schedule WHERE tenant = $1 AND id = $2";
    BY_ID = "schedule_by_id":
        "SELECT id, asked, paused, next_at, last_at, created_at, person, tenant
         FROM schedule WHERE tenant = $1 AND id = $2";
    PAGE = "schedule_page":
        "SELECT id, asked, paused, next_at, last_at, created_at, person, tenant
         FROM schedule WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    DUE = "schedule_due":
        "SELECT id, asked, paused, next_at, last_at, created_at, person, tenant
         FROM schedule WHERE next_at IS NOT NULL AND next_at <= $1 AND paused = 0
         ORDER BY next_at LIMIT $2";
}

/// The schedules of a tenant, or of all tenants.
pub struct Schedules<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Schedules<'_, '_> {
    /// Adds a schedule; `false` if the name is taken.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, schedule: &Schedule) -> Result<bool> {
        let asked = serde_json::to_string(&schedule.asked).map_err(unreadable)?;
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Uuid(schedule.id.uuid()),
            Param::Text(schedule.asked.name.as_str()),
            Param::Text(&asked),
            Param::Int(schedule.paused.into()),
            time(schedule.next_at),
            time(schedule.last_at),
            Param::Int(micros(schedule.created_at)),
            Param::Uuid(schedule.created_by.uuid()),
        ];
        Ok(self.tx.conn.execute(&INSERT, &params)? == 1)
    }

    /// Stores whether it is paused and when it comes next.
    ///
    /// # Errors
    /// If the database fails.
    pub fn update(&mut self, schedule: &Schedule) -> Result<bool> {
        let params = [
            Param::Int(schedule.paused.into()),
            time(schedule.next_at),
            time(schedule.last_at),
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Uuid(schedule.id.uuid()),
        ];
        Ok(self.tx.conn.execute(&UPDATE, &params)? == 1)
    }

    /// Moves a schedule on from a time; `false` if another did.
    ///
    /// # Errors
    /// If the database fails.
    pub fn advance(
        &mut self,
        id: ScheduleId,
        from: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<bool> {
        let from = Param::Int(micros(from));
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [time(next), from, own, Param::Uuid(id.uuid()), from];
        Ok(self.tx.conn.execute(&ADVANCE, &params)? == 1)
    }

    /// Removes a schedule; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete(&mut self, id: ScheduleId) -> Result<bool> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }

    /// Finds a schedule.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: ScheduleId) -> Result<Option<Schedule>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Lists schedules behind an id.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(&mut self, after: Option<ScheduleId>, limit: usize) -> Result<Vec<Schedule>> {
        let after = Param::Uuid(after.map_or(Uuid::nil(), ScheduleId::uuid));
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), after, Param::Int(limit as i64)];
        self.tx.conn.query(&PAGE, &params, read)
    }

    /// Lists schedules of all tenants whose time has come.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn due(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, Schedule)>> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Int(limit as i64)];
        self.tx.conn.query(&DUE, &params, |row| Ok((TenantId::from_uuid(row.uuid(7)?), read(row)?)))
    }
}

fn time(at: Option<Timestamp>) -> Param<'static> {
    at.map_or(Param::Null, |at| Param::Int(micros(at)))
}

fn read(row: &Row<'_>) -> Result<Schedule> {
    Ok(Schedule {
        id: ScheduleId::from_uuid(row.uuid(0)?),
        asked: serde_json::from_str(&row.text(1)?).map_err(unreadable)?,
        paused: row.int(2)? != 0,
        next_at: row.opt_int(3)?.map(from_micros),
        last_at: row.opt_int(4)?.map(from_micros),
        created_at: from_micros(row.int(5)?),
        created_by: UserId::from_uuid(row.uuid(6)?),
    })
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::Unreadable { what: "schedule", cause: cause.into() }
}
