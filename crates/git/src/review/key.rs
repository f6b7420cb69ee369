//! Keys: how a hunk is known again after a push.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::changes::{FileChange, Hunk, Line, LineKind, Status};

/// How many lines of a hunk are remembered, to tell one that changed from one that is gone.
const PRINTS_MAX: usize = 16;

/// Gives each hunk and each file its key.
pub(super) fn assign(file: &mut FileChange) {
    let whole = whole(file);
    let both = file.old.as_ref().zip(file.new.as_ref());
    let other_mode = both.is_some_and(|(old, new)| old.mode != new.mode);
    let moved = matches!(file.status, Status::Renamed | Status::Copied);
    let needed = file.entire || other_mode || moved || file.hunks.is_empty();
    file.key = needed.then(|| whole.clone());
    let mut twins: HashMap<String, u32> = HashMap::new();
    for hunk in &mut file.hunks {
        if file.entire {
            hunk.key.clone_from(&whole);
            continue;
        }
        let key = of_hunk(&file.name, hunk);
        let twin = twins.entry(key.clone()).or_default();
        *twin += 1;
        hunk.key = if *twin == 1 { key } else { format!("{key}-{twin}") };
        hunk.prints = prints(hunk);
    }
}

/// The name, the mode, and all of the content if it cannot be divided.
fn whole(file: &FileChange) -> String {
    let mut digest = Sha256::new();
    part(&mut digest, b"file");
    part(&mut digest, &file.old_name);
    part(&mut digest, &file.name);
    for side in [&file.old, &file.new] {
        part(&mut digest, side.as_ref().map_or(b"".as_slice(), |side| side.mode.as_bytes()));
        if file.entire {
            part(&mut digest, side.as_ref().map_or(b"".as_slice(), |side| side.id.as_bytes()));
        }
    }
    shown(digest)
}

/// The path, the lines that differ with those between them, and the next line on each side.
///
/// More of what is around it would tie the decision to lines that it is not about; less would take two
/// equal lines at different places for each other.
fn of_hunk(path: &[u8], hunk: &Hunk) -> String {
    let mut digest = Sha256::new();
    part(&mut digest, b"hunk");
    part(&mut digest, path);
    let (before, after) = around(hunk);
    part(&mut digest, before.map_or(b"".as_slice(), Line::bytes));
    for line in hunk.body() {
        let kind = match line.kind {
            LineKind::Context => b" ",
            LineKind::Removed => b"-",
            LineKind::Added => b"+",
        };
        part(&mut digest, kind);
        part(&mut digest, line.bytes());
        digest.update([u8::from(line.no_newline)]);
    }
    part(&mut digest, after.map_or(b"".as_slice(), Line::bytes));
    shown(digest)
}

/// Returns the lines next to the body.
fn around(hunk: &Hunk) -> (Option<&Line>, Option<&Line>) {
    let differs = |line: &Line| line.kind != LineKind::Context;
    let first = hunk.lines.iter().position(differs).unwrap_or(0);
    let last = hunk.lines.iter().rposition(differs).unwrap_or(0);
    (first.checked_sub(1).and_then(|at| hunk.lines.get(at)), hunk.lines.get(last + 1))
}

/// What the lines that differ are like, and where between which lines they are.
fn prints(hunk: &Hunk) -> Vec<u32> {
    let changed = hunk.body().iter().filter(|line| line.kind != LineKind::Context);
    // Blank lines and braces are everywhere.
    let telling = changed.filter(|line| line.text.trim().chars().count() > 2);
    let mut prints: Vec<u32> =
        telling.take(PRINTS_MAX).map(|line| print(&[line.text.trim().as_bytes()])).collect();
    if let (Some(before), Some(after)) = around(hunk) {
        prints.push(print(&[before.bytes(), b"\n", after.bytes()]));
    }
    prints
}

/// Needs no strength: two that are the same by chance only say "changed" where "gone" were right.
fn print(parts: &[&[u8]]) -> u32 {
    let mut digest = Sha256::new();
    for one in parts {
        part(&mut digest, one);
    }
    let bytes = digest.finalize();
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn part(digest: &mut Sha256, bytes: &[u8]) {
    digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
    digest.update(bytes);
}

fn shown(digest: Sha256) -> String {
    let bytes = digest.finalize();
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
