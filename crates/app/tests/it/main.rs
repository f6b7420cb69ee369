//! Use cases on real stores, both engines.
#![cfg(test)]

mod integrity;
mod once;
mod retention;
mod stage;
