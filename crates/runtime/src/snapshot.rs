//! Snapshots of files: what a directory holds, kept by content, each content once.

mod manifest;
mod packs;
mod sweep;
mod vault;
mod walk;

pub(crate) use vault::{Part, Vault};
