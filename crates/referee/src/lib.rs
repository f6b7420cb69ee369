//! The referee: reads what clients of the queue saw and what the server ended with, and names each
//! broken promise.
//!
//! A test harness writes a history with a [`Recorder`]: every request before it leaves, every answer
//! after it has come, and at the end the tables, the depth and the log of the server. [`check`]
//! reads it back and tells which of the twelve [`Rule`]s do not hold. The program `godel-referee`
//! does the same for files. [`record`] is the format.
//!
//! # Invariants
//! - It shares no code with the product, so that an error in one is not hidden by the other.
//! - It believes neither side: what clients were told and what the log says are held against each
//!   other and against the tables.
//! - An operation without a clear answer may have happened or not; nothing is held against the server
//!   that could be explained by either.
//! - It keeps a little for each task and nothing for each record.

mod clients;
mod error;
mod life;
mod moment;
pub mod record;
mod recorder;
mod referee;
mod rules;
mod tables;
mod verdict;
mod world;

pub use error::Error;
pub use record::{
    Answer, Ask, Backoff, Begin, Claim, Depth, Dump, Event, Lease, Place, Record, StoredTask, What,
};
pub use recorder::{Op, Recorder};
pub use referee::{Referee, check};
pub use verdict::{MOST_VIOLATIONS, Rule, Verdict, Violation};
