//! Beads from and for bd, as lines of JSON: nothing of a line is lost on the way in and out.

mod export;
mod import;
mod mapped;

pub use import::{BdFile, Imported, ImportedChange, ImportedField};
