//! Puts the content of one file together from what was decided about its lines.

use super::changes::{Hunk, LineKind};
use super::decide::{Undecided, Verdicts};

/// A file while it is put together; a line that follows one without an end gives it one.
#[derive(Default)]
struct Draft {
    bytes: Vec<u8>,
}

impl Draft {
    fn end_line(&mut self) {
        if self.bytes.last().is_some_and(|last| *last != b'\n') {
            self.bytes.push(b'\n');
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.end_line();
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn line(&mut self, text: &[u8], ended: bool) {
        self.end_line();
        self.bytes.extend_from_slice(text);
        if ended {
            self.bytes.push(b'\n');
        }
    }
}

/// Puts a file together: the lines before, with those changes that were accepted.
pub(super) fn assemble(
    before: &[u8],
    hunks: &[(&Hunk, &Verdicts)],
    undecided: Undecided,
) -> Vec<u8> {
    let olds: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    let mut draft = Draft::default();
    let mut at = 0;
    for (hunk, verdicts) in hunks {
        // A hunk without old lines names the line that it follows.
        let start = hunk.old_start as usize - usize::from(hunk.old_len > 0);
        olds.get(at..start).unwrap_or_default().iter().for_each(|line| draft.push(line));
        at = start + hunk.old_len as usize;
        place(&mut draft, hunk, verdicts, undecided);
    }
    olds.get(at..).unwrap_or_default().iter().for_each(|line| draft.push(line));
    draft.bytes
}

fn place(draft: &mut Draft, hunk: &Hunk, verdicts: &Verdicts, undecided: Undecided) {
    let mut replaced = false;
    for line in &hunk.lines {
        match (line.at, &verdicts.text) {
            (Some(_), Some(_)) if replaced => {}
            (Some(_), Some(text)) => {
                draft.push(text.as_bytes());
                replaced = true;
            }
            (None, _) => draft.line(line.bytes(), !line.no_newline),
            (Some(at), None) => {
                let said = verdicts.lines.get(at as usize - 1).copied().flatten();
                let accepted = said.unwrap_or(undecided == Undecided::Keep);
                let stays = match line.kind {
                    LineKind::Context => true,
                    LineKind::Removed => !accepted,
                    LineKind::Added => accepted,
                };
                if stays {
                    draft.line(line.bytes(), !line.no_newline);
                }
            }
        }
    }
}
