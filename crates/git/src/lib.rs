//! The workbench: worktrees of a repository, and how no work in them is ever lost.
//!
//! [`Workbench`] drives the real `git` program. It needs no server and works in any repository:
//! normal, bare, shallow, sparse, a submodule, or from inside a linked worktree. A worktree is at
//! `.godel/worktrees/<name>` (in the git directory of a bare repository at `godel/worktrees/<name>`)
//! on the branch `bead/<name>`.
//!
//! # Invariants
//! - The user's branches, index, hooks and configuration are not touched. The one file of git that is
//!   written is `info/exclude`, so that `git status` stays clean. Only a [`Landing`] moves a branch, by
//!   compare and swap, and the files of its checkout as a fast-forward does.
//! - Nothing is deleted before it is saved: by a branch or remote that has it, or by a reference
//!   under `refs/godel/rescue/` or `refs/godel/attempts/`.
//! - What is going to be done is recorded first. Killed anywhere, the same call finishes the work.
//! - What a repository asks for (run, copy, share) is done only after somebody on this machine
//!   agreed to exactly that.
//! - No path that is deleted comes out of a file; it follows from the repository and a [`Name`].

mod attempt;
mod bench;
mod benches;
mod branch;
mod bundle;
mod busy;
mod cleanup;
mod compare;
mod config;
mod create;
mod disk;
mod error;
mod files;
mod git;
mod glob;
mod history;
mod land;
mod look;
mod name;
mod nested;
mod ports;
mod push;
mod query;
mod record;
mod remove;
mod repo;
mod rescue;
mod review;
mod scratch;
mod setup;
mod share;
mod spare;
mod survey;
mod trust;

pub use attempt::{PutAway, Taken};
pub use bench::{Host, Workbench};
pub use benches::Benches;
pub use cleanup::{Cleaned, Cleaning, Due, Refusal};
pub use compare::{Piece, Present, Shape};
pub use create::{Create, Intent};
pub use error::{Error, Result};
pub use files::mask;
pub use land::{Author, How, Landed, Landing, Load, Merge, Message, Placed, Prepared, Span, Stack};
pub use look::{Entry, State};
pub use name::Name;
pub use query::DiffStat;
pub use record::{
    Base, Cleanup, Copied, Ended, Mode, Outcome, Phase, Policy, Ports, Record, Removal, Share,
    ShareState,
};
pub use remove::{Fate, Ignored, Remove, Removed};
pub use rescue::Rescue;
pub use review::{
    Applied, Apply, Bound, Changes, Clash, ClashSpot, Clashes, Decision, EXCERPT_MAX_LINES,
    Excerpt, FileChange, Hunk, Line, LineKind, Lines, PEOPLE, Part, Reviewing, Side, Spoken,
    Standing, Status, Takeover, Tally, Undecided, Verdict,
};
pub use share::Binds;
pub use survey::survey;
