//! A visible transaction.

use godel_model::{EventId, NewEvent, TenantId};

use crate::statement::Conn;
use crate::tables::events::Events;
use crate::tables::idempotency::Idempotency;
use crate::tables::keys::Keys;
use crate::tables::logins::Logins;
use crate::tables::projects::Projects;
use crate::tables::snapshots::Snapshots;
use crate::tables::tenants::Tenants;
use crate::{Error, Result, Scope};

/// A transaction inside one scope: all of it is committed, or nothing.
pub struct Tx<'c> {
    pub(crate) conn: Conn<'c>,
    scope: Scope,
    writable: bool,
    drafts: Vec<(TenantId, NewEvent)>,
    receipts: Vec<(EventId, String)>,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: Conn<'c>, scope: Scope, writable: bool) -> Self {
        Self { conn, scope, writable, drafts: Vec::new(), receipts: Vec::new() }
    }

    /// Returns the tenant of the scope.
    ///
    /// # Errors
    /// If the scope is the whole system.
    pub fn tenant(&self) -> Result<TenantId> {
        match self.scope {
            Scope::Tenant(tenant) => Ok(tenant),
            Scope::System => Err(Error::NoTenant),
        }
    }

    /// Returns an error unless the scope is the whole system.
    pub(crate) fn system(&self) -> Result<()> {
        match self.scope {
            Scope::System => Ok(()),
            Scope::Tenant(_) => Err(Error::NoTenant),
        }
    }

    /// Records an event of the scope's tenant; it gets its position when the transaction commits.
    ///
    /// # Errors
    /// In a read, or if the scope is the whole system.
    pub fn record(&mut self, event: NewEvent) -> Result<()> {
        let tenant = self.tenant()?;
        self.draft(tenant, event)
    }

    /// Records an event like [`Tx::record`], and leaves its [`crate::Receipt`] as the result of an
    /// idempotency key that this transaction settles.
    ///
    /// # Errors
    /// In a read, or if the scope is the whole system.
    pub fn record_with_receipt(&mut self, event: NewEvent, key: &str) -> Result<()> {
        let id = event.id;
        self.record(event)?;
        self.receipts.push((id, key.to_owned()));
        Ok(())
    }

    /// Records an event of any tenant, from the scope of the whole system.
    ///
    /// # Errors
    /// In a read, or if the scope is a tenant.
    pub fn record_for(&mut self, tenant: TenantId, event: NewEvent) -> Result<()> {
        self.system()?;
        self.draft(tenant, event)
    }

    fn draft(&mut self, tenant: TenantId, event: NewEvent) -> Result<()> {
        if !self.writable {
            return Err(Error::ReadOnly);
        }
        self.drafts.push((tenant, event));
        Ok(())
    }

    /// Takes the recorded events out, to be given their positions.
    pub(crate) fn take_drafts(&mut self) -> Vec<(TenantId, NewEvent)> {
        std::mem::take(&mut self.drafts)
    }

    /// Takes out for which events a receipt is wanted under which idempotency key.
    pub(crate) fn take_receipts(&mut self) -> Vec<(EventId, String)> {
        std::mem::take(&mut self.receipts)
    }

    /// The tenants of this server.
    pub fn tenants(&mut self) -> Tenants<'_, 'c> {
        Tenants { tx: self }
    }

    /// The projects of the tenant.
    pub fn projects(&mut self) -> Projects<'_, 'c> {
        Projects { tx: self }
    }

    /// The event log of the tenant.
    pub fn events(&mut self) -> Events<'_, 'c> {
        Events { tx: self }
    }

    /// The state that trimmed events added up to.
    pub fn snapshots(&mut self) -> Snapshots<'_, 'c> {
        Snapshots { tx: self }
    }

    /// The API keys.
    pub fn keys(&mut self) -> Keys<'_, 'c> {
        Keys { tx: self }
    }

    /// Login links and browser sessions.
    pub fn logins(&mut self) -> Logins<'_, 'c> {
        Logins { tx: self }
    }

    /// Requests that must be carried out once at most.
    pub fn idempotency(&mut self) -> Idempotency<'_, 'c> {
        Idempotency { tx: self }
    }
}
