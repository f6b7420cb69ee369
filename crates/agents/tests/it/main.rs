//! Tests of the crate as its users see it.
#![cfg(test)]

mod bare;
mod golden;
mod launch;
mod native;
mod noise;
mod programs;
mod stage;
mod tree;
