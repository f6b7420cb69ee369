//! Merging two commits of the state branch.

use super::Shelf;
use crate::Result;

impl Shelf {
    /// Repairs a merge that git made of the branch.
    pub(super) fn heal_merge(&mut self) -> Result<()> {
        Ok(())
    }
}
