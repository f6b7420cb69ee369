//! Reviews by people: what a bead changes, what was decided and said about it, and what comes of that.
//!
//! A review belongs to a bead. It is one paper, written before the answer, so that a server which is killed
//! loses nothing of it. What is shown is read from git each time: a push is seen at once, and what was decided
//! before is bound to what is still there.

mod desk;
mod doc;
mod end;
mod lines;
mod look;
mod message;
mod say;
mod unapply;

pub(crate) use desk::Kept;
pub use doc::{Approval, Comment, Made, On, Review, Side};
pub use end::{
    Approve, Approved, Outcome, RequestChanges, Requested, apply, approve, patch, request_changes,
};
pub use lines::{FileLines, WantLines, lines};
pub use look::{Diff, FirstPass, Full, Spot, Summary, Want, diff, list, show};
pub use say::{Decide, Edit, NewComment, Which, comment, decide, edit, undo};
pub use unapply::{clashes, unapply};
