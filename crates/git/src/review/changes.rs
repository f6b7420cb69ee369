//! What differs between two commits, as a person reviews it.

use serde::Serialize;

/// What differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// The commit before.
    pub base: String,
    /// The commit after.
    pub head: String,
    /// The files, in the order of their names.
    pub files: Vec<FileChange>,
    /// Whether the change is so large that the lines of some files are not shown.
    pub cut: bool,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content is another.
    Modified,
    /// It has another name, and perhaps another content.
    Renamed,
    /// It began as a copy of another.
    Copied,
    /// It may be run now, or no longer.
    ModeChanged,
    /// It is of another type, such as a link that became a file.
    TypeChanged,
}

impl Status {
    /// Returns the status as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::Copied => "copied",
            Self::ModeChanged => "mode_changed",
            Self::TypeChanged => "type_changed",
        }
    }
}

/// A file on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// The mode, such as `100644`; `120000` is a link and `160000` another repository.
    pub mode: String,
    /// The id of the content.
    pub id: String,
    /// How many bytes it has; told where the lines are not.
    pub size: Option<u64>,
}

impl Side {
    /// Tells whether it is a plain file and neither a link nor another repository.
    pub(crate) fn is_plain(&self) -> bool {
        self.mode.starts_with("100")
    }
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The path; what is no text in it is shown as a replacement character.
    pub path: String,
    /// The path before, if it was another.
    pub old_path: Option<String>,
    /// What became of it.
    pub status: Status,
    /// How it was.
    pub old: Option<Side>,
    /// How it is.
    pub new: Option<Side>,
    /// Whether it has no lines.
    pub binary: bool,
    /// Whether a program wrote it, such as a lock file.
    pub generated: bool,
    /// Whether its lines are not shown because they are too many.
    pub cut: bool,
    /// Whether it can only be decided as a whole.
    pub entire: bool,
    /// The key of what is decided as a whole: its name, its mode, or all of it.
    pub key: Option<String>,
    /// How many lines are new.
    pub added: u32,
    /// How many lines are gone.
    pub removed: u32,
    /// The places that differ.
    pub hunks: Vec<Hunk>,
    /// The exact name.
    #[serde(skip)]
    pub(crate) name: Vec<u8>,
    /// The exact name before.
    #[serde(skip)]
    pub(crate) old_name: Vec<u8>,
}

/// One place that differs, with lines around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Stays the same when the hunk only moves.
    pub key: String,
    /// What it is part of, such as the line that begins a function.
    pub header: String,
    /// Its first line before; the line that it follows if it had none.
    pub old_start: u32,
    /// How many lines it had.
    pub old_len: u32,
    /// Its first line now; the line that it follows if it has none.
    pub new_start: u32,
    /// How many lines it has.
    pub new_len: u32,
    /// The lines.
    pub lines: Vec<Line>,
    /// What its lines are like, to find it again when it has changed.
    #[serde(skip)]
    pub prints: Vec<u32>,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// It is as it was.
    Context,
    /// It is gone.
    Removed,
    /// It is new.
    Added,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// What became of it.
    pub kind: LineKind,
    /// What it says, without its end.
    pub text: String,
    /// Whether some of it is no text and shown as replacement characters.
    pub lossy: bool,
    /// Its number before.
    pub old: Option<u32>,
    /// Its number now.
    pub new: Option<u32>,
    /// Its place in the hunk, from the first line that differs to the last; 1 is the first.
    pub at: Option<u32>,
    /// Whether it is the last one, and the file does not end with a line break.
    pub no_newline: bool,
    /// The parts of the text that differ from the line it stands for, in bytes.
    pub marks: Vec<(u32, u32)>,
    /// The exact bytes, where the text is not.
    #[serde(skip)]
    pub(crate) raw: Option<Vec<u8>>,
}

impl Line {
    /// Returns exactly what it says, without its end.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.text.as_bytes())
    }
}

impl Hunk {
    /// Returns the lines from the first that differs to the last.
    pub fn body(&self) -> &[Line] {
        let differs = |line: &Line| line.kind != LineKind::Context;
        let first = self.lines.iter().position(differs).unwrap_or(0);
        let last = self.lines.iter().rposition(differs).map_or(0, |at| at + 1);
        &self.lines[first..last]
    }

    /// Returns how many lines can be decided.
    pub fn length(&self) -> u32 {
        u32::try_from(self.body().len()).unwrap_or(u32::MAX)
    }

    /// Lays the lines out side by side: the places of the old line and the new one, counted from 0.
    pub fn rows(&self) -> Vec<(Option<u32>, Option<u32>)> {
        let (mut rows, mut at) = (Vec::new(), 0_u32);
        let mut lines = self.lines.iter().map(|line| line.kind).peekable();
        while let Some(kind) = lines.next() {
            if kind == LineKind::Context {
                rows.push((Some(at), Some(at)));
                at += 1;
                continue;
            }
            // What went stands beside what came in its place.
            let first = u32::from(kind == LineKind::Removed);
            let mut run = |wanted: LineKind, mut count: u32| {
                while lines.next_if_eq(&wanted).is_some() {
                    count += 1;
                }
                count
            };
            let removed = if first == 1 { run(LineKind::Removed, 1) } else { 0 };
            let added = run(LineKind::Added, 1 - first);
            for pair in 0..removed.max(added) {
                let old = (pair < removed).then_some(at + pair);
                rows.push((old, (pair < added).then_some(at + removed + pair)));
            }
            at += removed + added;
        }
        rows
    }

    /// Returns what its body says now: what an editor begins with.
    pub fn new_text(&self) -> String {
        let mut text = String::new();
        for line in self.body().iter().filter(|line| line.kind != LineKind::Removed) {
            text.push_str(&line.text);
            if !line.no_newline {
                text.push('\n');
            }
        }
        text
    }
}

impl FileChange {
    /// Marks in each line what differs from the line that it stands for.
    pub fn mark_words(&mut self) {
        for hunk in &mut self.hunks {
            super::words::mark(&mut hunk.lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_stands_beside_what_came() {
        let line = |kind| Line {
            kind,
            text: String::new(),
            lossy: false,
            old: None,
            new: None,
            at: None,
            no_newline: false,
            marks: Vec::new(),
            raw: None,
        };
        use LineKind::{Added as A, Context as C, Removed as R};
        let hunk = |kinds: &[LineKind]| Hunk {
            key: String::new(),
            header: String::new(),
            old_start: 1,
            old_len: 0,
            new_start: 1,
            new_len: 0,
            lines: kinds.iter().copied().map(line).collect(),
            prints: Vec::new(),
        };
        let wanted = [
            (Some(0), Some(0)),
            (Some(1), Some(3)),
            (Some(2), None),
            (Some(4), Some(4)),
            (None, Some(5)),
            (None, Some(6)),
        ];
        assert_eq!(hunk(&[C, R, R, A, C, A, A]).rows(), wanted);
        assert_eq!(hunk(&[R]).rows(), [(Some(0), None)]);
    }
}
