//! The bookshelf: beads and convoys in git, merge by field, ready queue, claims, import and export.
//!
//! A [`Shelf`] is opened on any folder of a repository and needs no server. What it holds are
//! documents on the branch `godel/state`; [`ops`] changes them inside [`Shelf::write`], and a
//! [`Writer`] does so for many callers at once.
//!
//! # Invariants
//! - What was answered is durable: objects are synced before the branch moves, and the branch
//!   before the answer ([`git`]).
//! - The user's branches, index, work tree, hooks and configuration are never touched.
//! - Merging documents is commutative, associative and idempotent ([`doc`]).
//! - The index and the readable view can be thrown away; both are built from the branch.
//! - Only whoever holds the lock of the shelf moves the branch, and only from where it believed it
//!   to be.

mod bd;
pub mod doc;
mod error;
mod evidence;
mod fsck;
pub mod git;
mod graph;
pub mod index;
mod maintain;
mod neighbours;
pub mod ops;
mod prime;
mod shelf;
mod sync;
mod view;
mod writer;

pub use bd::{BdFile, Imported, ImportedChange, ImportedField};
pub use error::{Error, Result};
pub use evidence::{Evidence, LinkedCommit};
pub use fsck::Checked;
pub use graph::{ConvoyState, Progress};
pub use index::{Asker, Filter, Page, Query, Reason, Row, Sort, Waiting};
pub use maintain::Upkeep;
pub use neighbours::Neighbour;
pub use prime::remembered;
pub use shelf::{Act, Draft, Entry, FORMAT, Happening, Job, Merged, Options, Shelf};
pub use sync::Synced;
pub use view::{Bead, Convoy, Lease, Link, Memory, tag};
pub use writer::Writer;
