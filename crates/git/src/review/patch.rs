//! Reads the hunks that `git diff-tree --patch` writes, to the byte.

use super::changes::{FileChange, Hunk, Line, LineKind, Side, Status};

/// How many lines of hunks one file shows; one with more is decided as a whole.
pub(super) const LINES_MAX: usize = 30_000;

/// Gives each file its hunks; a file that the patch does not reach is cut.
pub(super) fn fill(files: &mut [FileChange], patch: &[u8], whole: bool) {
    let mut reader = Reader { rest: patch, whole };
    for file in files {
        // Git writes a change of type as one file that goes and one that comes.
        let split = file.status == Status::TypeChanged;
        for _ in 0..if split { 2 } else { 1 } {
            if reader.section(file).is_none() {
                // Whatever follows is not looked at: it could be taken for another file's.
                reader.rest = &[];
                (file.cut, file.entire) = (true, true);
            }
        }
        if split || file.cut {
            file.hunks.clear();
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Whether the patch is all that git wrote.
    whole: bool,
}

impl<'a> Reader<'a> {
    /// Takes the next line, without its end; nothing if there is no whole one.
    fn line(&mut self) -> Option<&'a [u8]> {
        let at = self.rest.iter().position(|byte| *byte == b'\n')?;
        let line = &self.rest[..at];
        self.rest = &self.rest[at + 1..];
        Some(line)
    }

    /// Reads what belongs to one file; nothing if it is not all there.
    fn section(&mut self, file: &mut FileChange) -> Option<()> {
        self.line().filter(|line| line.starts_with(b"diff --git "))?;
        let mut lines = 0;
        loop {
            if self.rest.starts_with(b"diff --git ") {
                return Some(());
            }
            if self.rest.is_empty() {
                return self.whole.then_some(());
            }
            let line = self.line()?;
            if let Some(ids) = line.strip_prefix(b"index ") {
                belongs(file, ids).then_some(())?;
            }
            if line.starts_with(b"Binary files ") {
                (file.binary, file.entire) = (true, true);
            }
            if !line.starts_with(b"@@ ") {
                continue;
            }
            let hunk = header(line)?;
            let hunk = self.hunk(hunk)?;
            lines += hunk.lines.len();
            for line in &hunk.lines {
                file.added += u32::from(line.kind == LineKind::Added);
                file.removed += u32::from(line.kind == LineKind::Removed);
            }
            if lines > LINES_MAX {
                (file.cut, file.entire) = (true, true);
                file.hunks.clear();
            } else {
                file.hunks.push(hunk);
            }
        }
    }

    /// Reads as many lines as the header of a hunk says.
    fn hunk(&mut self, mut hunk: Hunk) -> Option<Hunk> {
        let start = |at: u32, len: u32| if len == 0 { at + 1 } else { at };
        let (mut old, mut new) =
            (start(hunk.old_start, hunk.old_len), start(hunk.new_start, hunk.new_len));
        let (old_end, new_end) = (old + hunk.old_len, new + hunk.new_len);
        while old < old_end || new < new_end {
            let line = self.line()?;
            let kind = match line.first()? {
                b' ' => LineKind::Context,
                b'-' => LineKind::Removed,
                b'+' => LineKind::Added,
                _ => return None,
            };
            let (is_old, is_new) = (kind != LineKind::Added, kind != LineKind::Removed);
            hunk.lines.push(Line {
                kind,
                old: is_old.then_some(old),
                new: is_new.then_some(new),
                no_newline: self.rest.starts_with(b"\\ "),
                ..said(&line[1..])
            });
            if self.rest.starts_with(b"\\ ") {
                self.line()?;
            }
            old += u32::from(is_old);
            new += u32::from(is_new);
        }
        number(&mut hunk.lines);
        Some(hunk)
    }
}

/// Tells whether a section is about a file, by the ids of its contents.
fn belongs(file: &FileChange, ids: &[u8]) -> bool {
    let is = |side: Option<&Side>, id: &[u8]| match side {
        Some(side) => side.id.as_bytes() == id,
        None => id.iter().all(|byte| *byte == b'0'),
    };
    let ids = ids.split(|byte| *byte == b' ').next().unwrap_or_default();
    let Some(at) = ids.windows(2).position(|two| two == b"..") else { return false };
    file.status == Status::TypeChanged
        || (is(file.old.as_ref(), &ids[..at]) && is(file.new.as_ref(), &ids[at + 2..]))
}

/// Numbers the lines from the first that differs to the last.
fn number(lines: &mut [Line]) {
    let differs = |line: &Line| line.kind != LineKind::Context;
    let (Some(first), Some(last)) =
        (lines.iter().position(differs), lines.iter().rposition(differs))
    else {
        return;
    };
    for (at, line) in (1..).zip(&mut lines[first..=last]) {
        line.at = Some(at);
    }
}

fn said(bytes: &[u8]) -> Line {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lossy = text.as_bytes() != bytes;
    Line {
        kind: LineKind::Context,
        text,
        lossy,
        old: None,
        new: None,
        at: None,
        no_newline: false,
        marks: Vec::new(),
        raw: lossy.then(|| bytes.to_vec()),
    }
}

/// Reads `@@ -1,2 +3,4 @@ header`.
fn header(line: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(line);
    let (ranges, header) = text.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u32, u32)> {
        match text.split_once(',') {
            Some((start, len)) => Some((start.parse().ok()?, len.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((old_start, old_len), (new_start, new_len)) = (range(old)?, range(new)?);
    Some(Hunk {
        key: String::new(),
        header: header.trim().to_owned(),
        old_start,
        old_len,
        new_start,
        new_len,
        lines: Vec::new(),
        prints: Vec::new(),
    })
}
