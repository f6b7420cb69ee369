//! Landing: what was allowed gets into its branch, in order, and only if the gates pass on the result.
//!
//! Each bead that is to land is an entry of the merge queue of its project. One server at a time leads a line. It
//! lays work on the branch without any working tree, judges the result, and moves the branch by compare and
//! swap. Where an entry stands is on disk before anything is moved, so that a server which is killed at any
//! moment lands each bead once. If a project wants pull requests, the branch is the forge's, and moves there.

mod after;
mod entry;
mod forges;
mod judge;
mod lead;
mod mend;
mod order;
mod pulls;
mod push;
mod queue;
mod revert;
mod settle;
mod train;
mod whole;
mod words;

use std::time::Duration;

use godel_app::{Call, beads};
use godel_model::{BeadStatus, ProjectId};
use tracing::instrument;

pub use entry::{Asked, Entry, Moving, Paused, PullRequest, Stage, Trouble, Verdict};
pub(crate) use forges::Forges;
pub(crate) use lead::keep_going;
pub use order::reorder;
pub use queue::{Place, Status, WAIT_MAX, add, find, get, pause, remove, status, take_out};
pub(crate) use queue::{Wish, enter};
pub use revert::revert;
pub(crate) use whole::is_part;
pub use whole::target_of;

use crate::{Fleet, Result};

/// What keeps work from landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// It conflicts with what is in the branch.
    Conflict(Vec<String>),
    /// It conflicts, and a repair did not work out.
    Unrepaired {
        /// The files in conflict.
        files: Vec<String>,
        /// What became of the repair.
        why: String,
    },
    /// A gate failed on the result.
    Gate(String),
    /// What must pass after a landing did not; it was taken back.
    After {
        /// What failed.
        why: String,
        /// The commit that took it back.
        undone: String,
    },
    /// Its pull request was closed without being merged.
    Closed(String),
    /// Something of a person's is in the way, or git fails.
    Blocked(String),
}

impl std::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Conflict(files) => {
                write!(f, "it conflicts with the branch in {}", files.join(", "))
            }
            Self::Unrepaired { files, why } => {
                write!(f, "it conflicts with the branch in {}, and {why}", files.join(", "))
            }
            Self::Gate(what) => write!(f, "together with the branch {what}"),
            Self::After { why, undone } => {
                write!(f, "it had landed and was taken back by {undone}, since {why}")
            }
            Self::Closed(url) => write!(f, "its pull request {url} was closed without a merge"),
            Self::Blocked(why) => f.write_str(why),
        }
    }
}

/// Says to whoever mends it why work does not land, and how it would.
pub(crate) fn refusal(target: &str, why: &Hindrance) -> String {
    let how = match why {
        Hindrance::After { undone, .. } => format!(
            "Merge {target} into the work, bring the work back with `git revert {undone}`, correct it, and commit."
        ),
        Hindrance::Closed(url) => format!(
            "What was said about it is there. Make the work such that it can be merged, and commit: {url}"
        ),
        _ => format!(
            "Merge {target} into the work (`git merge` with the commit that the branch is at), make both right, \
             and commit."
        ),
    };
    format!("This cannot land on {target} as it is: {why}\n\n{how}")
}

/// Lets work be mended by the next agent: the bead is open again, and nobody's.
///
/// # Errors
/// If the bead cannot be moved.
pub async fn send_back(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &str),
    why: &str,
) -> Result<()> {
    let (app, project) = (fleet.app(), Some(project));
    // It would still be assigned to the agent that thought it was done. This comes first: whoever is killed in between
    // finds it in review, and does both.
    beads::release(app, call, project, bead, (None, true)).await?;
    let back = beads::Move {
        status: Some(BeadStatus::Open),
        reason: Some(why.lines().next().unwrap_or_default().to_owned()),
        force: true,
        ..beads::Move::default()
    };
    beads::move_to(app, call, project, bead, back).await?;
    Ok(())
}

/// Lands the work of a bead that is in review: a person says that it may, and waits for it up to a time.
///
/// # Errors
/// If the caller may not, or the bead is not in review.
#[instrument(level = "debug", name = "fleet.landing.land", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn land(
    fleet: &Fleet,
    call: &Call,
    which: (Option<ProjectId>, &str),
    (commit, patience): (Option<String>, Duration),
) -> Result<Entry> {
    let entry = add(fleet, call, which, commit).await?;
    get(fleet, call, (Some(entry.project), &entry.bead), patience).await
}
