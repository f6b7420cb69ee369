//! Tests of the crate as its users see it.
#![cfg(test)]

mod front;
mod gates;
mod golden;
mod launch;
mod mcp;
mod native;
mod noise;
mod programs;
mod room;
mod stage;
mod tree;
