//! SQLite and PostgreSQL behind one [`Store`].
//!
//! A write is a closure over a visible transaction. On SQLite it runs on the one writer thread,
//! grouped with what arrived during the last fsync; on PostgreSQL on one of a few lanes, grouped
//! in the same way. A read is a closure over a read-only transaction.
//!
//! # Invariants
//! - A write that returned is on disk (`synchronous=FULL`, `synchronous_commit=on`).
//! - An event is committed with the change it tells of; a tenant's sequence has no gap and is in
//!   commit order on both engines.
//! - Every statement is a [`statement::Statement`] in a list that a test prepares on both engines.
//! - An act is recorded with the change it tells of; each row of the record is bound to the one
//!   before it by a keyed hash ([`godel_model::chain`]), and the newest row is sealed.
//! - A tenant's rows are reached only through [`Scope::Tenant`]; PostgreSQL enforces it again by
//!   row-level security, and fails closed when no tenant is set.
//! - A backup is one moment of the whole database, and is restored whole or not at all.

pub mod backup;
mod config;
mod error;
mod fault;
mod hub;
mod job;
mod lock;
mod migrate;
mod postgres;
mod scope;
mod seal;
mod sqlite;
mod statement;
mod store;
mod tables;
mod tail;
mod tx;

pub use config::{Config, DatabaseUrl, Durability};
pub use error::{Error, Result};
pub use fault::fault;
pub use hub::Logged;
pub use lock::FileLock;
pub use migrate::{Migration, SchemaStatus, known as known_migrations};
pub use postgres::holders::Holder;
pub use scope::Scope;
pub use sqlite::soundness;
pub use store::{Probe, Store, Written};
pub use tables::agent_tokens::AgentTokenRecord;
pub use tables::attic::{Before, Looked};
pub use tables::audit::{Ends, StoredRow};
pub use tables::bodies::CallBody;
pub use tables::callers::{CallerKey, CallerRecord, CallerSession};
pub use tables::calls::{CallRecord, OpenCalls};
pub use tables::census::Staff;
pub use tables::devices::{DeviceRecord, DeviceStatus};
pub use tables::events::{Direction, Page, SCAN_MAX_EVENTS};
pub use tables::idempotency::{Claim, Receipt};
pub use tables::incidents::{INCIDENT, Incidents};
pub use tables::keys::KeyRecord;
pub use tables::papers::{Paper, Papers, TalkNodes};
pub use tables::runs::{Alarm, RunRecord};
pub use tables::secrets::{DataKeyRecord, SecretRecord};
pub use tables::sessions::SessionRecord;
pub use tables::tasks::{
    Closing, Depth, Done, Ending, Enqueued, Fence, Found, Head, Lease, News, Next, Ready, Settled,
    Spot, TaskFilter,
};
pub use tables::tokens::{Purpose, TokenRecord};
pub use tables::workflows::{TeamRecord, WorkflowRecord};
pub use tail::{Batch, Gap, Tail};
pub use tx::Tx;
