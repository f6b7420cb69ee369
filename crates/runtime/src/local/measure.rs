//! How much room files take.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many files are counted; a directory with more is too much in itself.
const FILES_MAX: u64 = 5_000_000;
/// What the kernel counts blocks in.
const BLOCK_BYTES: u64 = 512;

/// What was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Measured {
    /// The room on the disk.
    pub(super) bytes: u64,
    /// Whether something could not be looked into, or was too much to count.
    pub(super) opaque: bool,
}

/// Measures what is below some directories, without following links.
pub(super) fn measure(roots: &[&Path]) -> Measured {
    let mut sum = Measured::default();
    let mut files = 0;
    let mut open: Vec<PathBuf> = roots.iter().map(|root| (*root).to_owned()).collect();
    while let Some(dir) = open.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            // Somebody may delete while we count.
            Err(error) if gone(&error) => continue,
            Err(_) => {
                sum.opaque = true;
                continue;
            }
        };
        for entry in entries.flatten() {
            files += 1;
            match entry.metadata() {
                Ok(found) => {
                    sum.bytes = sum.bytes.saturating_add(found.blocks() * BLOCK_BYTES);
                    if found.is_dir() {
                        open.push(entry.path());
                    }
                }
                Err(error) if gone(&error) => {}
                Err(_) => sum.opaque = true,
            }
        }
        if files > FILES_MAX {
            sum.opaque = true;
            return sum;
        }
    }
    sum
}

fn gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_links_are_not_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("big"), vec![1; 4 << 20]).unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        fs::write(root.path().join("d/file"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let measured = measure(&[root.path()]);
        assert!(!measured.opaque);
        assert!((1 << 20..2 << 20).contains(&measured.bytes), "{measured:?}");
        assert_eq!(measure(&[&root.path().join("nowhere")]), Measured::default());
    }
}
