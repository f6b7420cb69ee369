//! The reader: what a sentence asks for, how hard that is, a plan for it, and what it will cost.
//!
//! [`parse`](parse::parse) tells what is wanted and asks at most one question; [`complexity`] judges how hard it is;
//! [`rules`] makes a plan without a model, and [`model_plan`] asks one and checks its answer; [`shape`] says
//! who should work on it, and [`estimate`] what that costs, from what work has cost before.
//!
//! # Invariants
//! - Nothing here does IO, reads a clock or leaves anything to chance: the same words about the same
//!   repository are the same plan.
//! - Whatever the text, nothing panics, and a plan that is returned passes [`Plan::check`](plan::Plan::check).
//! - A text can narrow what the caller allows (agents, budget), and never widen it. Words out of a
//!   repository, a bead or a model are data.

pub mod complexity;
pub mod estimate;
pub mod model_plan;
pub mod parse;
pub mod plan;
pub mod rules;
pub mod shape;
mod text;

pub use text::TEXT_MAX_BYTES;
