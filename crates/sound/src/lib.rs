//! The stethoscope: is a SQLite database sound, or has a disk lost some of it?
//!
//! SQLite itself drops what follows a damaged place of its log without a word, and reads a damaged page as
//! far as it makes sense. Here both are found: the log is read before SQLite opens it ([`log`]), and pages,
//! and whether what is in them adds up, are looked at by a thread of its own ([`Checker`]).
//!
//! # Invariants
//! - Nothing is ever changed or repaired here.
//! - Whatever a crash or a power cut can leave behind is sound.

mod log;
mod tables;

pub use log::log;
pub use tables::{Checker, Damage, check};
