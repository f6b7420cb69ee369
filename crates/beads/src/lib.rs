//! The bookshelf: beads and convoys in git, merge by field, ready queue, claims, import and export.
pub mod doc;
mod error;
mod evidence;
pub mod git;
pub mod index;
mod neighbours;
pub mod ops;
mod shelf;
mod view;

pub use error::{Error, Result};
pub use evidence::{Evidence, LinkedCommit};
pub use index::{Filter, Page, Reason, Row, Sort, Waiting};
pub use neighbours::Neighbour;
pub use shelf::{Act, Draft, FORMAT, Job, Options, Shelf};
pub use view::{Bead, Convoy, Lease, Link, Memory, tag};
