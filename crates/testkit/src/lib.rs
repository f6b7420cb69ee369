//! The rehearsal room: real stores on both engines for tests.
//!
//! # Invariants
//! - Only tests use this crate.
//! - A world is fresh and private: its own SQLite file or its own PostgreSQL database.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "only tests use this crate, and a test that cannot set up must fail loudly"
)]

mod authority;
mod database;
mod preload;
mod world;

pub use authority::Authority;
pub use database::{Database, change, postgres_url};
pub use preload::Preload;
pub use world::{World, worlds};
