//! Snapshots: what the trimmed part of a tenant's log added up to.

use godel_model::TenantState;

use crate::statement::{Param, statements};
use crate::{Error, Result, Tx};

statements! {
    UPSERT = "snapshot_upsert":
        "INSERT INTO snapshot (tenant, seq, state) VALUES ($1, $2, $3)
         ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, state = excluded.state";
    BY_TENANT = "snapshot_by_tenant": "SELECT state FROM snapshot WHERE tenant = $1";
}

/// The snapshot of one tenant.
pub struct Snapshots<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Snapshots<'_, '_> {
    /// Returns the snapshot; an empty one if nothing was trimmed yet.
    ///
    /// # Errors
    /// If the database fails, or the snapshot is damaged.
    pub fn load(&mut self) -> Result<TenantState> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let stored = self.tx.conn.first(&BY_TENANT, &[tenant], |row| row.text(0))?;
        let Some(text) = stored else {
            return Ok(TenantState::default());
        };
        serde_json::from_str(&text)
            .map_err(|cause| Error::Unreadable { what: "snapshot", cause: cause.into() })
    }

    /// Stores the snapshot.
    ///
    /// # Errors
    /// If the database fails.
    pub fn save(&mut self, state: &TenantState) -> Result<()> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let text = serde_json::to_string(state)
            .map_err(|cause| Error::Unreadable { what: "snapshot", cause: cause.into() })?;
        self.tx.conn.execute(&UPSERT, &[tenant, Param::Int(state.seq.0), Param::Text(&text)])?;
        Ok(())
    }
}
