//! The quotas of subscriptions, as their providers told them last.

use godel_model::{Quota, QuotaWindow, TenantId, UserId, from_micros, micros};

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    PUT = "quota_put":
        "INSERT INTO model_quota (tenant, person, provider, name, used, minutes, resets_at, state,
             seen_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (tenant, person, provider, name) DO UPDATE
         SET used = EXCLUDED.used, minutes = EXCLUDED.minutes, resets_at = EXCLUDED.resets_at,
             state = EXCLUDED.state, seen_at = EXCLUDED.seen_at
         WHERE model_quota.seen_at <= EXCLUDED.seen_at";
    LIST = "quota_list":
        "SELECT person, provider, name, used, minutes, resets_at, state, seen_at
         FROM model_quota WHERE tenant = $1 ORDER BY provider, person, minutes, name";
}

/// The quotas of subscriptions.
pub struct Quotas<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Quotas<'_, '_> {
    /// Writes what a provider said of a window, unless something newer is known.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn put(&mut self, tenant: TenantId, quota: &Quota) -> Result<()> {
        self.tx.reaches(tenant)?;
        let int = |int: Option<i64>| int.map_or(Param::Null, Param::Int);
        let window = &quota.window;
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(quota.user.uuid()),
            Param::Text(&quota.provider),
            Param::Text(&window.name),
            Param::Int(window.used_ppm),
            int(window.minutes.map(i64::from)),
            int(window.resets_at.map(micros)),
            Param::from(window.state.as_deref()),
            Param::Int(micros(quota.seen_at)),
        ];
        self.tx.conn.execute(&PUT, &params).map(drop)
    }

    /// Lists the windows of the tenant, by provider, user and length.
    ///
    /// # Errors
    /// If the database fails.
    pub fn list(&mut self) -> Result<Vec<Quota>> {
        self.tx.conn.query(&LIST, &[Param::Uuid(self.tx.tenant()?.uuid())], read)
    }
}

fn read(row: &Row<'_>) -> Result<Quota> {
    let window = QuotaWindow {
        name: row.text(2)?,
        used_ppm: row.int(3)?,
        minutes: row.opt_int(4)?.and_then(|minutes| u32::try_from(minutes).ok()),
        resets_at: row.opt_int(5)?.map(from_micros),
        state: row.opt_text(6)?,
    };
    Ok(Quota {
        user: UserId::from_uuid(row.uuid(0)?),
        provider: row.text(1)?,
        window,
        seen_at: from_micros(row.int(7)?),
    })
}
