//! Use cases on real stores, both engines.
#![cfg(test)]

mod alerts;
mod attic;
mod audit;
mod backup;
mod fair;
mod first_line;
mod gates;
mod hand_over;
mod heal;
mod integrity;
mod lines;
mod once;
mod placing;
mod queue;
mod reports;
mod retention;
mod simulation;
mod stage;
mod teams;
mod vault;
mod wake;
mod wiring;
mod workflows;
