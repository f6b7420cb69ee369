//! The foremen: agents that are spawned, supervised, resumed, checked and landed.
//!
//! # Invariants
//! - Each run of an agent is a task of the queue. Its lease is the truth: who has lost it stops.
//! - What an agent is, and what was said, is on disk before anybody hears of it; a server that is killed
//!   loses the turn under way and nothing else.
//! - Done means that git agrees: a commit on the branch of the bead, nothing left over, gates passed, no
//!   todo open. What an agent says about itself is a wish.
//! - No model is asked by the supervision itself.
//! - Work is never thrown away: a worktree goes only after its work is in the target branch.

pub mod agents;
mod aim;
pub mod attach;
pub mod carry;
pub mod check;
mod conversation;
mod doc;
mod errands;
mod error;
mod events;
mod fleet;
mod foreman;
pub mod hearing;
pub mod inbox;
pub mod landing;
pub mod look;
pub mod mail;
pub mod march;
pub mod own;
pub mod paper;
pub mod part;
mod place;
mod review;
pub mod roles;
mod run;
pub mod sessions;
mod slips;
pub mod snapshots;
pub mod spawn;
mod stock;
pub mod stop;
mod together;
pub mod wishes;

pub use doc::{Agent, Step, Talk};
pub use error::{Error, Result};
pub use fleet::{Fleet, Settings};
pub use slips::{Letter, Likeness, March, MarchState, Notice, NoticeKind, Snapshot};
