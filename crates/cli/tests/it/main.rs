//! The real binary, as people and scripts use it.
#![cfg(test)]

mod accounts;
mod agents;
mod backup;
mod bead_input;
mod bead_worktree;
mod beads;
mod convoys;
mod crash;
mod crew;
mod earned;
mod errands;
mod exchange;
mod failures;
mod fleet;
mod fleet_crash;
mod home;
mod leaks;
mod machine;
mod models;
mod pages;
mod people;
mod queue;
mod repo;
mod repository;
mod reviews;
mod serving;
mod stage;
mod stopping;
mod tls;
mod worker;
mod worker_end;
mod worker_faults;
mod workflow;
mod worktree;
