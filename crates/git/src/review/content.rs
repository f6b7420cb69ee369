//! A file as a review has it on one side, byte for byte.

use godel_model::code;

use super::Reviewing;
use super::changes::Side;
use crate::error::{Error, Result};

impl Reviewing<'_> {
    /// Reads all bytes of a file.
    ///
    /// # Errors
    /// If it is no plain file, has more bytes than are wanted, or git fails.
    pub fn content(&self, side: &Side, most: u64) -> Result<Vec<u8>> {
        let refused = |why: String| {
            let what = format!("the file cannot be shown: {why}");
            Err(Error::refused(code::REVIEW_REFUSED, what, "look at it in the repository"))
        };
        if !side.is_plain() {
            return refused("it is a link or another repository".to_owned());
        }
        let size = self.repo().ask().args(["cat-file", "-s", &side.id]).line()?;
        if size.parse::<u64>().is_ok_and(|size| size > most) {
            return refused(format!("it has {size} bytes, more than {most}"));
        }
        self.repo().ask().args(["cat-file", "blob", &side.id]).bytes()
    }
}
