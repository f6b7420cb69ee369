//! The safe: the master key of a data directory, and files that only their user can read.
//!
//! # Invariants
//! - A file of the safe is there whole or not at all, and only its user can read it.
//! - Wherever a rotation is cut off, the key that opens the database is found.

mod error;
mod files;
mod master;

pub use error::{Error, Result};
pub use files::{is_open_to_others, make_private_dir, write_private};
pub use master::{
    MASTER_KEY_FILE, NewMasterKey, OLD_MASTER_KEY_FILE, decode_master_key, encode_master_key,
    find_master_key, read_master_key, settle_master_key, write_master_key,
};
