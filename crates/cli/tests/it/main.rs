//! The real binary, as people and scripts use it.
#![cfg(test)]

mod accounts;
mod backup;
mod crash;
mod failures;
mod home;
mod leaks;
mod pages;
mod people;
mod serving;
mod stopping;
mod tls;
mod worktree;
