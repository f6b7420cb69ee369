//! The rehearsal room: real stores on both engines for tests.
//!
//! # Invariants
//! - Only tests use this crate.
//! - A world is fresh and private: its own SQLite file or its own PostgreSQL database.

mod database;
mod world;

pub use database::{Database, postgres_url};
pub use world::{World, worlds};
