//! Use cases on real stores, both engines.
#![cfg(test)]

mod alerts;
mod audit;
mod backup;
mod first_line;
mod integrity;
mod once;
mod queue;
mod retention;
mod simulation;
mod stage;
mod vault;
mod workflows;
