//! Snapshots of files: what a directory holds, kept by content, each content once.

mod carry;
mod look;
mod manifest;
mod packs;
mod sweep;
mod vault;
mod walk;

pub use carry::{LIST_MAX_BYTES, Pieces, Sink};
pub(crate) use look::WORKSPACE;
pub use look::{Content, Held, Listing, look_at, read_at};
pub use vault::Stored;
pub(crate) use vault::{Part, Vault};
