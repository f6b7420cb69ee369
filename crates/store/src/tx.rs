//! A visible transaction.

use godel_model::{AuditEntry, EventId, NewEvent, TenantId};
use jiff::Timestamp;

use crate::statement::Conn;
use crate::tables::agent_tokens::AgentTokens;
use crate::tables::attic::Attic;
use crate::tables::audit::Audit;
use crate::tables::bodies::Bodies;
use crate::tables::budgets::Budgets;
use crate::tables::callers::Callers;
use crate::tables::calls::Calls;
use crate::tables::census::Census;
use crate::tables::devices::Devices;
use crate::tables::events::Events;
use crate::tables::idempotency::Idempotency;
use crate::tables::incidents::Incidents;
use crate::tables::keys::Keys;
use crate::tables::lanes::Lanes;
use crate::tables::papers::{Papers, TalkNodes};
use crate::tables::pools::Pools;
use crate::tables::projects::Projects;
use crate::tables::quotas::Quotas;
use crate::tables::runs::Runs;
use crate::tables::schedules::Schedules;
use crate::tables::secrets::Secrets;
use crate::tables::sessions::Sessions;
use crate::tables::shelves::Shelves;
use crate::tables::snapshots::Snapshots;
use crate::tables::tasks::Tasks;
use crate::tables::tenants::Tenants;
use crate::tables::tokens::Tokens;
use crate::tables::usage::UsageSums;
use crate::tables::users::Users;
use crate::tables::workers::Workers;
use crate::tables::workflows::Workflows;
use crate::{Error, Result, Scope};

/// A transaction inside one scope: all of it is committed, or nothing.
pub struct Tx<'c> {
    pub(crate) conn: Conn<'c>,
    scope: Scope,
    writable: bool,
    drafts: Drafts,
}

/// What a transaction recorded; it gets its places when the transaction commits.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) events: Vec<(TenantId, NewEvent)>,
    pub(crate) acts: Vec<(TenantId, AuditEntry)>,
    /// Which of the events leave a receipt under which idempotency key.
    pub(crate) receipts: Vec<(EventId, String)>,
    /// Names that were taken out of the log.
    pub(crate) renames: Vec<Rename>,
}

/// An actor that has another name in a part of the log.
#[derive(Debug, Clone)]
pub(crate) struct Rename {
    pub(crate) tenant: TenantId,
    /// Behind which position, and up to which.
    pub(crate) range: (i64, i64),
    pub(crate) old: String,
    pub(crate) new: String,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: Conn<'c>, scope: Scope, writable: bool) -> Self {
        Self { conn, scope, writable, drafts: Drafts::default() }
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

    /// Returns an error unless the scope is the whole system or this tenant.
    pub(crate) fn reaches(&self, tenant: TenantId) -> Result<()> {
        match self.scope {
            Scope::Tenant(own) if own != tenant => Err(Error::NoTenant),
            Scope::Tenant(_) | Scope::System => Ok(()),
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
        self.drafts.receipts.push((id, key.to_owned()));
        Ok(())
    }

    /// Records an event of any tenant, from the scope of the whole system.
    ///
    /// # Errors
    /// In a read, or if the scope is another tenant.
    pub fn record_for(&mut self, tenant: TenantId, event: NewEvent) -> Result<()> {
        self.reaches(tenant)?;
        self.draft(tenant, event)
    }

    fn draft(&mut self, tenant: TenantId, event: NewEvent) -> Result<()> {
        self.writable()?;
        self.drafts.events.push((tenant, event));
        Ok(())
    }

    /// Records an act in the chain of a tenant; it gets its place when the transaction commits.
    ///
    /// # Errors
    /// In a read, or if the scope is another tenant.
    pub fn record_act(&mut self, tenant: TenantId, act: AuditEntry) -> Result<()> {
        self.reaches(tenant)?;
        self.writable()?;
        self.drafts.acts.push((tenant, act));
        Ok(())
    }

    fn writable(&self) -> Result<()> {
        if self.writable { Ok(()) } else { Err(Error::ReadOnly) }
    }

    /// Notes that a name was taken out of the log.
    pub(crate) fn note_rename(&mut self, rename: Rename) {
        self.drafts.renames.push(rename);
    }

    /// Takes what was recorded out, to be given its places.
    pub(crate) fn take_drafts(&mut self) -> Drafts {
        std::mem::take(&mut self.drafts)
    }

    /// The tenants of this server.
    pub fn tenants(&mut self) -> Tenants<'_, 'c> {
        Tenants { tx: self }
    }

    /// The projects of the tenant.
    pub fn projects(&mut self) -> Projects<'_, 'c> {
        Projects { tx: self }
    }

    /// How far the changes of each project's beads are told.
    pub fn shelves(&mut self) -> Shelves<'_, 'c> {
        Shelves { tx: self }
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

    /// The users.
    pub fn users(&mut self) -> Users<'_, 'c> {
        Users { tx: self }
    }

    /// Who stands behind a credential.
    pub fn callers(&mut self) -> Callers<'_, 'c> {
        Callers { tx: self }
    }

    /// Logins that last.
    pub fn sessions(&mut self) -> Sessions<'_, 'c> {
        Sessions { tx: self }
    }

    /// Secrets of logins.
    pub fn tokens(&mut self) -> Tokens<'_, 'c> {
        Tokens { tx: self }
    }

    /// Programs that wait for a person to let them in.
    pub fn devices(&mut self) -> Devices<'_, 'c> {
        Devices { tx: self }
    }

    /// Encrypted secrets, and the keys they are encrypted with.
    pub fn secrets(&mut self) -> Secrets<'_, 'c> {
        Secrets { tx: self }
    }

    /// Attempts to get an answer from a provider.
    pub fn calls(&mut self) -> Calls<'_, 'c> {
        Calls { tx: self }
    }

    /// Returns the quotas of subscriptions.
    pub fn quotas(&mut self) -> Quotas<'_, 'c> {
        Quotas { tx: self }
    }

    /// Returns what was asked and answered.
    pub fn bodies(&mut self) -> Bodies<'_, 'c> {
        Bodies { tx: self }
    }

    /// Sums of what models were asked for.
    pub fn usage(&mut self) -> UsageSums<'_, 'c> {
        UsageSums { tx: self }
    }

    /// What may be spent.
    pub fn budgets(&mut self) -> Budgets<'_, 'c> {
        Budgets { tx: self }
    }

    /// Tokens by which agents reach models.
    pub fn agent_tokens(&mut self) -> AgentTokens<'_, 'c> {
        AgentTokens { tx: self }
    }

    /// The record of who did what.
    pub fn audit(&mut self) -> Audit<'_, 'c> {
        Audit { tx: self }
    }

    /// Requests that must be carried out once at most.
    pub fn idempotency(&mut self) -> Idempotency<'_, 'c> {
        Idempotency { tx: self }
    }

    /// The queue.
    pub fn tasks(&mut self) -> Tasks<'_, 'c> {
        Tasks { tx: self }
    }

    /// What all tenants have in the queue.
    pub fn census(&mut self) -> Census<'_, 'c> {
        Census { tx: self }
    }

    /// The papers of a kind.
    pub fn papers(&mut self, kind: &'static str) -> Papers<'_, 'c> {
        Papers { tx: self, kind }
    }

    /// What people are told of once.
    pub fn incidents(&mut self) -> Incidents<'_, 'c> {
        Incidents { tx: self }
    }

    /// The nodes of a conversation.
    pub fn talk_nodes(&mut self, talk: uuid::Uuid) -> TalkNodes<'_, 'c> {
        TalkNodes { tx: self, talk }
    }

    /// The lines of pools.
    pub fn lanes(&mut self) -> Lanes<'_, 'c> {
        Lanes { tx: self }
    }

    /// What is over for long.
    pub fn attic(&mut self) -> Attic<'_, 'c> {
        Attic { tx: self }
    }

    /// Where tasks wait, and how.
    pub fn pools(&mut self) -> Pools<'_, 'c> {
        Pools { tx: self }
    }

    /// Who takes tasks.
    pub fn workers(&mut self) -> Workers<'_, 'c> {
        Workers { tx: self }
    }

    /// Tasks that come again and again.
    pub fn schedules(&mut self) -> Schedules<'_, 'c> {
        Schedules { tx: self }
    }

    /// Workflows and teams.
    pub fn workflows(&mut self) -> Workflows<'_, 'c> {
        Workflows { tx: self }
    }

    /// Runs of workflows.
    pub fn runs(&mut self) -> Runs<'_, 'c> {
        Runs { tx: self }
    }

    /// Tells whether several servers may share the database.
    pub fn is_shared(&self) -> bool {
        matches!(self.conn, Conn::Postgres(_))
    }

    /// Returns the time by which leases and delays are judged: that of the database where several
    /// servers share one, else the one that is given.
    ///
    /// # Errors
    /// If the database fails.
    pub fn clock(&mut self, own: Timestamp) -> Result<Timestamp> {
        match &mut self.conn {
            Conn::Sqlite(..) => Ok(own),
            Conn::Postgres(session) => session.clock(),
        }
    }
}
