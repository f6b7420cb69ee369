//! The studio: a sentence becomes a plan with a price, and a plan becomes a convoy that runs; one bead is tried
//! several ways; conversations are found by their bead, and two ends of one are compared.
//!
//! # Invariants
//! - Nothing runs before somebody says yes: [`intents::submit`] looks, thinks and writes down, and only
//!   [`intents::start`] does something.
//! - What a plan will make has its ids before it is started, so that it is made once, however often it is
//!   started and wherever it is killed.
//! - A model that plans is asked through the proxy, with a token of the caller's that ends with the planning.
//!   What it answers can narrow what the caller allows, and never widen it.
//! - An attempt moves no bead: only a person's choice does. Its commits are under a reference before its worktree
//!   and its branch go.
//! - Nothing is shown of two ends that git would not show: what is ignored is often a secret.

pub mod attempts;
pub mod ends;
pub mod intents;
pub mod talks;

pub use godel_fleet::{Error, Result};
