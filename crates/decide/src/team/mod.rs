//! Teams: several agents at one job. A team is planned as a workflow, so one engine runs both.
//!
//! | Strategy | Steps | What comes of it |
//! |---|---|---|
//! | `parallel` | one for each item, role and copy, all at once | the list, or as [`Aggregate`] says |
//! | `map-reduce` | one for each item, then `merge` over their results, in stages if there are many | what the last `merge` gave |
//! | `pipeline` | for each item one after the other for each role, each with what the one before gave | the list of what the last role gave |
//! | `tree` | `lead` plans, one for each item works, `merge` joins `fanOut` results level by level | what the topmost `merge` gave |
//!
//! | A team is | and becomes | by |
//! |---|---|---|
//! | created | running | `Start` |
//! | running | paused | `Pause` |
//! | paused | running | `Resume` |
//! | running, paused | completed | `Complete` |
//! | running, paused | failed | `Fail` |
//! | created, running, paused | cancelled | `Cancel` |
//!
//! What is planned goes by the same ids in each strategy, so when a strategy fails, the simpler one
//! ([`fall_back`]) begins with what was done already. The ladder is tree, map-reduce, parallel, and a
//! pipeline with one agent.

mod bounds;
mod heal;
mod plan;
mod spec;
mod state;
#[cfg(test)]
mod tests;
mod verdict;

pub use bounds::{Bounds, NEAR_PERCENT, bounds};
pub use heal::{AgentFailure, FailureKind, FallBack, Remedy, fall_back, remedy};
pub use plan::{Finished, TeamPlan, plan};
pub use spec::{Aggregate, ITEMS_MAX, Role, SIZE_MAX, Strategy, TeamSpec};
pub use state::{IllegalTeam, TeamAction, TeamState};
pub use verdict::Verdict;
