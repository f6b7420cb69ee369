//! Workflows: what they are ([`Definition`]), made ready to run ([`Plan`]), and running ([`Run`]).
//!
//! ```text
//! text --Definition::parse--> Definition --Plan::new--> Arc<Plan> --Run::new--> Run
//!                                                                               |  ^
//!                                            Vec<Effect> <--Run::apply(Input)---'  |
//!                                            rows written by StepChanged, RunChanged --Run::restore
//! ```
//!
//! # Invariants
//! - Nothing here does IO or reads a clock: times come in with each input.
//! - What an input costs depends on what it touches, never on the size of the run.
//! - Templates and conditions see only what has ended, and cannot take for ever ([`limits`]).
//! - A run that was restored from its rows goes on exactly as the one that wrote them.

pub mod definition;
mod export;
mod expr;
mod graph;
pub mod limits;
mod plan;
pub(crate) mod problem;
pub mod run;
pub(crate) mod source;

pub use definition::Definition;
pub use export::{dot, mermaid};
pub use plan::{CriticalPath, Plan, StepIndex};
pub use problem::{Mistake, Position, Problem, Problems};
pub use run::{
    Answer, ChildOrder, Counts, Effect, Fault, Illegal, Input, Mismatch, NewRun, RUN_TIMED_OUT,
    Run, RunRow, RunState, Status, StepRow, StepState, TaskOrder,
};
