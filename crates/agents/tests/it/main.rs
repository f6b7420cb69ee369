//! Tests of the crate as its users see it.

mod golden;
mod noise;
mod tree;
