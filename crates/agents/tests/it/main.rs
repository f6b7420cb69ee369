//! Tests of the crate as its users see it.
#![cfg(test)]

mod golden;
mod launch;
mod native;
mod noise;
mod programs;
mod room;
mod stage;
mod tree;
