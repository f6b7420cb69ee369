//! The books: what was asked of models and what it cost, split and narrowed as somebody wants to see it.
//!
//! # Invariants
//! - A report adds up sums that were written with the attempts themselves: what it says is what they say.
//! - Nobody reads here what the use case does not let them: each of these asks who it is first.

pub mod reports;
