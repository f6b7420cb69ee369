//! What all commands share: how they answer and fail, and how they find the server and what is meant.
//!
//! # Invariants
//! - `output.rs` is the one place that writes answers; they go to stdout, and everything else to stderr.
//! - An error becomes an exit code in `exit.rs`, and nowhere else.
//! - A key goes to the server that it was made for, and the owner's key to no other machine.

pub mod agents;
mod context;
mod error;
mod exit;
pub mod here;
pub mod locate;
pub mod lookup;
pub mod measure;
pub mod output;
pub mod quietly;
pub mod saved;
mod signals;

pub use context::Context;
pub use error::{Error, Result, is_absent, root_cause};
pub use exit::Exit;
pub use signals::Signals;
