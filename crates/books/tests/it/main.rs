//! The books against real databases.
#![cfg(test)]

mod reports;
mod stage;
