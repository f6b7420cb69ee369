//! The part of the shelf that knows git: where things are, objects, the reference, the lock.

mod command;
mod disk;
mod lock;
mod object;
mod pack;
mod place;
mod reference;
mod tree;

pub(crate) use command::{quiet_git, run_git};
pub(crate) use disk::fault;
pub use disk::{Disk, DiskOp};
pub(crate) use lock::Lock;
pub(crate) use object::read as read_object;
pub(crate) use pack::{KEEP, Pack, blob_id};
pub use place::Place;
pub(crate) use reference::{NAME as STATE, Reference};
pub(crate) use tree::{Tree, Trees};
