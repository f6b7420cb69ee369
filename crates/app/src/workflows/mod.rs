//! Workflows: what they are, and their runs.
//!
//! The rules are in `godel-decide`; here is what keeps them going. A run is moved on by one turn at
//! a time: what its tasks, timers and people said goes in, and what follows from it (tasks, timers,
//! changed steps) is written in the same transaction. Whoever crashes in between has done nothing.

mod children;
pub mod definitions;
mod effects;
mod engine;
pub(crate) mod errands;
mod error;
mod misfits;
pub mod runs;

pub(crate) use effects::make;
pub(crate) use engine::{AS_TEAM, Loaded, Move, RUN, look_at, move_on};
pub use engine::{Engine, start};
pub use error::WorkflowError;
pub use runs::{RunView, StepView};
