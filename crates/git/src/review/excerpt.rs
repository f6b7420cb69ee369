//! Lines of a file as a review has it on one side, for what lies outside of its hunks.

use godel_model::code;

use super::Reviewing;
use super::changes::Side;
use super::read::FILE_MAX_BYTES;
use crate::error::{Error, Result};

/// How many lines one excerpt has at most.
pub const EXCERPT_MAX_LINES: u32 = 1_000;
/// How many bytes one excerpt has at most, but for its first line.
const EXCERPT_MAX_BYTES: usize = 1 << 20;
/// Git looks for a zero byte in so much of a file to tell whether it has lines.
const BINARY_LOOK_BYTES: usize = 8_000;
/// Another repository.
const SUBMODULE: &str = "160000";

/// Lines of a file that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// How many lines the file has.
    pub total: u32,
    /// The lines; fewer than were asked for if the file ends, or they are too long.
    pub lines: Vec<Spoken>,
}

/// What one line of a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Its number; 1 is the first.
    pub number: u32,
    /// What it says, without its end.
    pub text: String,
    /// Whether some of it is no text and shown as replacement characters.
    pub lossy: bool,
    /// Whether it is the last one, and the file does not end with a line break.
    pub no_newline: bool,
}

impl Reviewing<'_> {
    /// Reads lines of a file; both ends are meant, and 1 is the first.
    ///
    /// # Errors
    /// If the file has no lines or too many bytes, the lines are none, or git fails.
    pub fn excerpt(&self, side: &Side, (from, to): (u32, u32)) -> Result<Excerpt> {
        if from == 0 || to < from || to - from >= EXCERPT_MAX_LINES {
            return Err(Error::refused(
                code::INVALID_FIELD,
                format!("lines {from} to {to} cannot be read"),
                format!("the first line is 1, and {EXCERPT_MAX_LINES} are read at once at most"),
            ));
        }
        if side.mode == SUBMODULE {
            return Err(without("it is another repository"));
        }
        let size = self.repo().ask().args(["cat-file", "-s", &side.id]).line()?;
        if size.parse::<u64>().is_ok_and(|size| size > FILE_MAX_BYTES) {
            return Err(without(&format!("it has {size} bytes, more than {FILE_MAX_BYTES}")));
        }
        let bytes = self.repo().ask().args(["cat-file", "blob", &side.id]).bytes()?;
        match bytes.iter().take(BINARY_LOOK_BYTES).any(|byte| *byte == 0) {
            true => Err(without("it is binary")),
            false => Ok(cut_out(&bytes, from, to)),
        }
    }
}

fn without(why: &str) -> Error {
    Error::refused(
        code::REVIEW_REFUSED,
        format!("the file has no lines to show: {why}"),
        "decide it as a whole, or look at it in the repository",
    )
}

fn cut_out(bytes: &[u8], from: u32, to: u32) -> Excerpt {
    let (mut total, mut room, mut lines) = (0_u32, Some(EXCERPT_MAX_BYTES), Vec::new());
    for whole in bytes.split_inclusive(|byte| *byte == b'\n') {
        total = total.saturating_add(1);
        if !(from..=to).contains(&total) {
            continue;
        }
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        // One line that is longer than all are allowed to be still lets a reader go on.
        let left = room.and_then(|room| room.checked_sub(line.len()));
        if room.is_none() || (left.is_none() && !lines.is_empty()) {
            room = None;
            continue;
        }
        room = left;
        let text = String::from_utf8_lossy(line).into_owned();
        let lossy = text.as_bytes() != line;
        lines.push(Spoken { number: total, text, lossy, no_newline: line.len() == whole.len() });
    }
    Excerpt { total, lines }
}
