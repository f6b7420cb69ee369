//! The use cases of Godel: one function for each thing that a person or a program can ask for.
//!
//! # Invariants
//! - Every use case takes a [`Call`]: who acts, in which tenant, and on behalf of which request. Its
//!   first line asks whether the actor may ([`Call::may`]); a test reads the sources for it.
//! - A change by a call is also on the record of acts ([`audit`]), in the same transaction.
//! - A change, the event that tells of it, and the memory of its idempotency key are one
//!   transaction.
//! - Every use case is a span `app.<module>.<function>` at level `debug`: off in logs unless asked
//!   for, sent when traces are. Its fields are named one by one, so that no secret slips in.
//! - Every spawned task belongs to the [`Crew`], and shutdown waits for it.

mod app;
pub mod audit;
pub mod auth;
pub mod backup;
pub mod beads;
mod call;
mod crew;
pub mod erasure;
mod error;
pub mod events;
pub mod health;
pub mod integrity;
pub mod keys;
mod once;
pub mod projects;
pub mod queue;
mod rates;
pub mod retention;
mod rooms;
pub mod secrets;
pub mod spend;
pub mod teams;
pub mod tenants;
pub mod users;
pub mod vault;
pub mod workflows;

pub use app::{App, AppConfig, RateConfig};
pub use call::{Call, OnceKey, Origin};
pub use crew::Crew;
pub use error::{Error, Result};
pub use rates::{NoPlace, Rates, SocketPlace};
pub use rooms::{Rooms, Spot};
