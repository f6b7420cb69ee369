//! The board: what people arrange for themselves, what they try out before they do it, and what they look back at.
//!
//! # Invariants
//! - A view is an address and nothing else: it lets nobody see what they could not see without it.
//! - A check of the doctor starts programs and changes nothing; it ends in time, whatever they do.
//! - A document of settings holds no secret and no id; what it does not name stays as it is.
//! - The inbox holds an incident once, and none that is over: an approval goes when its gate is answered,
//!   a budget when it was raised or began anew, dead letters when they are few again.
//! - A worktree goes only when all work in it is saved, and never from under an agent that will go on.
//! - A rehearsal changes nothing; it is worked out from the ledger's own rows.

pub mod doctor;
pub mod inbox;
pub mod logs;
pub mod portable;
pub mod rehearsal;
pub mod routing;
pub mod runtimes;
pub mod spending;
pub mod steps;
pub mod views;
pub mod worktrees;

pub use godel_fleet::{Error, Result};
