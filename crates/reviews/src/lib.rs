//! The reading desk: what a bead changes, what people decided and said about it, and what comes of that.
//!
//! A review belongs to a bead. It is one paper, written before the answer, so that a server which is killed
//! loses nothing of it. Where branches are is asked of git each time: a push is seen at once, and what was decided
//! before is bound to what is still there.
//!
//! # Invariants
//! - Only what cannot change is remembered: what lies between two commits.
//! - A picture is sent as what both its name and its content say, or not at all.

mod desk;
mod doc;
mod end;
mod lines;
mod list;
mod look;
mod message;
mod pictures;
mod say;
mod size;
mod unapply;

use std::sync::Arc;

use godel_fleet::Fleet;

pub use doc::{Approval, Comment, Made, On, Review, Side};
pub use end::{
    Approve, Approved, Outcome, RequestChanges, Requested, apply, approve, patch, request_changes,
};
pub use godel_fleet::{Error, Result};
pub use lines::{FileLines, WantLines, lines};
pub use list::{Listing, Place, list};
pub use look::{Diff, FirstPass, Full, Spot, Summary, Want, diff, show};
pub use pictures::{PICTURE_MAX_BYTES, Picture, WantPicture, picture};
pub use say::{Decide, Edit, NewComment, Which, comment, decide, edit, undo};
pub use size::Size;
pub use unapply::{clashes, unapply};

/// The reviews of a fleet's work.
#[derive(Clone)]
pub struct Reviews {
    fleet: Fleet,
    /// Changes that were read last.
    changes: Arc<desk::Kept>,
    /// What is known of pairs of commits.
    known: Arc<size::Known>,
}

impl std::fmt::Debug for Reviews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reviews").finish_non_exhaustive()
    }
}

impl Reviews {
    /// Puts the desk up; nothing is read yet.
    pub fn new(fleet: Fleet) -> Self {
        Self { fleet, changes: Arc::default(), known: Arc::default() }
    }
}
