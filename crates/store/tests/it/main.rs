//! The store on real engines: every test runs on SQLite and on PostgreSQL.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test owns the tasks it spawns")]

mod append;
mod backup;
mod callers;
mod crash;
mod fleet;
mod held;
mod incidents;
mod lost_commit;
mod migrations;
mod pages;
mod projects;
mod schema;
mod spend;
mod tail;
mod tasks;
mod tenancy;
mod tls;
