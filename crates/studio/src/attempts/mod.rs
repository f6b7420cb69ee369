//! Attempts: one bead is tried several ways at once, and a person picks one.
//!
//! A trial holds the bead, and each of its attempts is an agent of its own, with a worktree, a branch and a
//! model of its own. An attempt that is done moves nothing: the bead waits for a choice. All that is known is in
//! the paper of the trial, in the agents and in git, so that a server which is killed in between goes on.

mod doc;
mod end;
mod look;
mod start;
mod turn;

pub use doc::{Attempt, Cap, Pick, Stage, Trial};
pub use end::{drop_all, pick};
pub use look::{Compared, Seen, View, diff, list, show};
pub use start::{Orders, start};
pub use turn::keep_going;
