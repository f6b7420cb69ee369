//! Starts private PostgreSQL and Redis servers for tests and chores.
//!
//! [`Binaries::find`] looks for what is installed (or unpacked into the developer cache),
//! [`Postgres::start`] and [`Redis::start`] run it in a temporary folder on a free loopback
//! port. A crash test may kill, pause and restart its server.
//!
//! # Invariants
//! - A server is private: own folder, own port, own processes; a system server is never touched.
//! - It is as durable as in production (`fsync` stays on), so that a crash test means something.
//! - It never outlives its owner: dropping stops it, a [`Scratch`] watchdog does so when the owner
//!   is killed, and the next start sweeps up after a machine that lost both.
//! - Root never serves: as root the servers run as another account.

mod account;
mod binaries;
mod error;
mod port;
mod postgres;
mod process;
mod redis;
mod scratch;
mod server;

pub use binaries::{Binaries, Installed, Places, Version, cache_dir, unpacked_libraries};
pub use error::{Engine, Error};
pub use postgres::Postgres;
pub use process::{Pid, Signal, signal_group, signal_process};
pub use redis::Redis;
pub use scratch::{Scratch, Target, sweep};

/// A certificate with its private key, both in PEM form; a server that has one speaks TLS.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The certificate.
    pub certificate: String,
    /// The key that belongs to it.
    pub key: String,
}
