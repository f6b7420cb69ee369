//! Models: who may ask them, what that costs, and how much of it is allowed.
//!
//! The way of one request is in `godel-proxy`; here are the things that people do about it.

mod askers;
pub mod budgets;
pub mod check;
pub mod tokens;
mod upkeep;
mod who;

pub(crate) use askers::Askers;
pub use upkeep::{load, oldest, start, stop, trim};
pub use who::{Shown, who};
