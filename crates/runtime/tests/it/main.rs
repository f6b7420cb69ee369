//! Sandboxes with real processes.
#![cfg(test)]

mod collect;
mod contract;
mod egress;
mod escape;
mod gvisor;
mod inlet;
mod limits;
mod orphan;
mod other_user;
mod snapshot;
mod terminal;
mod world;
