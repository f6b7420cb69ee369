//! The nursery: repositories that are cloned or begun on the server's machine.
//!
//! A repository is made by a [`Job`]: it is asked for, git works in the background, and whoever asked looks how far
//! it is or waits for its event. Jobs are in memory only; what lasts is the repository itself.
//!
//! # Invariants
//! - An address with a password or a token in it is refused, and no text of git's is told before such parts are
//!   struck out.
//! - Git runs nothing that a repository or its address asks for: no hook, no submodule, no transport of its own.
//! - Nothing is written into a folder that has something in it, and only a folder that a job made is removed.
//! - A data directory of Godel and the repositories of other tenants are neither read nor written.
//! - Every job ends: by itself, after its time, or when the server stops.

mod folder;
mod git;
pub mod jobs;
mod source;
mod walls;
mod words;

pub use jobs::{Job, Repositories};
