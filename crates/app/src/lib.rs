//! The use cases of Godel: one function for each thing that a person or a program can ask for.
//!
//! # Invariants
//! - Every use case takes a [`Call`]: who acts, in which tenant, and on behalf of which request.
//! - A change, the event that tells of it, and the memory of its idempotency key are one
//!   transaction.
//! - Every spawned task belongs to the [`Crew`], and shutdown waits for it.

mod app;
pub mod auth;
pub mod backup;
mod call;
mod crew;
mod error;
pub mod events;
pub mod health;
pub mod integrity;
mod once;
pub mod projects;
mod rates;
pub mod retention;
pub mod tenants;

pub use app::{App, AppConfig, RateConfig};
pub use call::{Call, OnceKey};
pub use crew::Crew;
pub use error::{Error, Result};
pub use rates::Rates;
