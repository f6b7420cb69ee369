//! Reads the list of files that `git diff-tree --raw -z` writes.

use super::changes::{FileChange, Side, Status};

/// Files that programs write, by their names.
const GENERATED: [&str; 16] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "Gemfile.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "go.sum",
    "flake.lock",
    "mix.lock",
    "Package.resolved",
];

/// Reads the files, and returns them with what follows after them.
pub(super) fn files(mut bytes: &[u8]) -> (Vec<FileChange>, &[u8]) {
    let mut files = Vec::new();
    while bytes.first() == Some(&b':') {
        let Some((record, rest)) = cut(&bytes[1..]) else { break };
        let Some((first, rest)) = cut(rest) else { break };
        let record = String::from_utf8_lossy(record).into_owned();
        let parts: Vec<&str> = record.split(' ').collect();
        let &[old_mode, new_mode, old_id, new_id, letter] = parts.as_slice() else { break };
        let two = letter.starts_with(['R', 'C']);
        let (second, rest) = if two { cut(rest).unwrap_or((first, rest)) } else { (first, rest) };
        bytes = rest;
        let old = side(old_mode, old_id);
        let new = side(new_mode, new_id);
        let status = status(letter, old.as_ref(), new.as_ref());
        files.push(fresh((first, second), status, old, new));
    }
    (files, bytes.strip_prefix(b"\0").unwrap_or(bytes))
}

fn fresh(
    (before, after): (&[u8], &[u8]),
    status: Status,
    old: Option<Side>,
    new: Option<Side>,
) -> FileChange {
    let shown = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let odd = |side: &Option<Side>| side.as_ref().is_some_and(|side| !side.is_plain());
    let entire = odd(&old) || odd(&new);
    let base = after.rsplit(|byte| *byte == b'/').next().unwrap_or(after);
    FileChange {
        path: shown(after),
        old_path: (before != after).then(|| shown(before)),
        status,
        binary: false,
        generated: GENERATED.iter().any(|name| name.as_bytes() == base),
        cut: false,
        entire,
        key: None,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        name: after.to_vec(),
        old_name: before.to_vec(),
        old,
        new,
    }
}

fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

fn side(mode: &str, id: &str) -> Option<Side> {
    (mode != "000000").then(|| Side { mode: mode.to_owned(), id: id.to_owned(), size: None })
}

fn status(letter: &str, old: Option<&Side>, new: Option<&Side>) -> Status {
    match letter.as_bytes().first() {
        Some(b'A') => Status::Added,
        Some(b'D') => Status::Deleted,
        Some(b'R') => Status::Renamed,
        Some(b'C') => Status::Copied,
        Some(b'T') => Status::TypeChanged,
        _ => match (old, new) {
            (Some(old), Some(new)) if old.id == new.id => Status::ModeChanged,
            _ => Status::Modified,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_as_they_are() {
        let id = "1".repeat(40);
        let text = format!(
            ":100644 100755 {id} {id} M\0a\nb\0:100644 100644 {id} {id} R100\0old\0new \"x\"\0\0rest"
        );
        let (files, rest) = self::files(text.as_bytes());
        assert_eq!(rest, b"rest");
        assert_eq!((files[0].path.as_str(), files[0].status), ("a\nb", Status::ModeChanged));
        assert_eq!(files[1].old_path.as_deref(), Some("old"));
        assert_eq!((files[1].path.as_str(), files[1].status), ("new \"x\"", Status::Renamed));
    }
}
