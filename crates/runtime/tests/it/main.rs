//! Sandboxes with real processes.
#![cfg(test)]

mod collect;
mod contract;
mod egress;
mod escape;
mod limits;
mod other_user;
mod snapshot;
mod world;
