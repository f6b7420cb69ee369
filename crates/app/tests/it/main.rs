//! Use cases on real stores, both engines.
#![cfg(test)]

mod alerts;
mod attic;
mod audit;
mod backup;
mod dead;
mod fair;
mod first_line;
mod gates;
mod hand_over;
mod heal;
mod held;
mod integrity;
mod lines;
mod once;
mod placing;
mod queue;
mod retention;
mod rooms;
mod simulation;
mod stage;
mod strategies;
mod teams;
mod vault;
mod wake;
mod wiring;
mod workflows;
