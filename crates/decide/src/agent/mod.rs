//! Agents at work: whether one is stuck, what is tried next, who may start, and what roles there are.
//!
//! # Invariants
//! - Nothing here spends a token: all of it is decided from what was seen.
//! - What is not an agent's fault does not count against it.

mod choice;
mod ladder;
mod role;
mod stuck;
mod wanted;
mod waves;

pub use choice::chosen;
pub use ladder::{Attempt, Ended, Ladder, Next};
pub use role::{
    BUILT_IN, Fill, HARNESSES, PROMPT_MAX_BYTES, Role, SANDBOXES, TOOLS_MAX, TURNS_MAX,
};
pub use stuck::{Limits, Seen, Stuck, Watch};
pub use wanted::{ERRANDS, Errand, Wanted, errand_retry, errands};
pub use waves::{AtWork, Candidate, Room, start};
