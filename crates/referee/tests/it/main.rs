//! The referee is right: it accepts all that a right queue leaves, and catches each wrong one.

#![cfg(test)]

mod chance;
mod driver;
mod dump;
mod model;
mod mutant;
mod program;
mod queue;
mod stories;
