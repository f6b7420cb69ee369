//! The hand: turns any program into a worker, which takes tasks from a server and runs the program for
//! each of them.
//!
//! # Invariants
//! - Nothing here writes to a terminal: what happens is told as a [`Note`].
//! - A command and all that it started end with its attempt, and at the latest with the worker.
//! - Nothing is said of an attempt that is in other hands.
//! - No command gets to see a key, a token, or the address of a database.

mod attempt;
mod book;
mod error;
mod group;
mod heard;
mod link;
mod notes;
mod patience;
mod shift;
mod verdict;
mod wire;

pub use attempt::{Ended, Outcome};
pub use book::Key;
pub use error::Error;
pub use group::Program;
pub use notes::{Note, Notes};
pub use patience::Patience;
pub use shift::{Halt, Plan, Shift};
pub use wire::{Attach, Told, Wire};
