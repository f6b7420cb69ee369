//! Beads and convoys of the tenant's projects, as they are in git.

mod access;
mod change;
mod convoys;
mod exchange;
mod look;
mod memories;
mod publish;
mod shelves;

pub use change::{
    Move, assign, claim, comment, create, delete, finish, heartbeat, judge, link, move_to, new_id,
    release, unlink, update,
};
pub use convoys::{convoy, convoys, create_convoy, delete_convoy, fill_convoy, update_convoy};
pub use exchange::{export, import};
pub use look::{Listing, Queue, beads, get, log, ready};
pub use memories::{forget, recall, remember};
pub(crate) use publish::all_with_repository;
pub use publish::start;
pub(crate) use shelves::Shelves;

use godel_model::ProjectId;

/// Something that is in the repository of a project.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    /// The project.
    pub project: ProjectId,
    /// The thing.
    pub value: T,
    /// The entity tag of its document, where there is one.
    pub tag: Option<String>,
}
