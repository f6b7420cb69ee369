//! Use cases on real stores, both engines.
#![cfg(test)]

mod backup;
mod integrity;
mod retention;
