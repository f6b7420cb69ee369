//! Branches read from git's own files, which is much faster than to start git.
//!
//! What is not kept in the usual way is left to git: other ways to keep references, other names for a branch.

use std::fs;
use std::io::{ErrorKind, Read as _};

use crate::repo::Repo;

/// What a file of a branch has at most: an id and a newline.
const LOOSE_MAX_BYTES: u64 = 66;
/// More than so many packed references are left to git.
const PACKED_MAX_BYTES: u64 = 64 << 20;
/// What has these names is always a commit.
const COMMITS: [&str; 2] = ["refs/heads/", "refs/godel/landing/"];

/// What the files say of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is at this commit.
    At(String),
    /// There is none.
    Nowhere,
    /// Only git can tell.
    Unsure,
}

impl Repo {
    /// Looks a branch, or a mark of ours, up.
    ///
    /// What is packed is written before its own file goes, so the own file is looked at first.
    pub(crate) fn seen(&self, reference: &str) -> Seen {
        if !COMMITS.iter().any(|start| reference.starts_with(start)) {
            return Seen::Unsure;
        }
        self.look_up(reference)
    }

    fn look_up(&self, reference: &str) -> Seen {
        let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\0');
        if !reference.split('/').all(plain) || !self.keeps_files() {
            return Seen::Unsure;
        }
        match self.loose(reference) {
            Seen::Nowhere => self.packed(reference),
            known => known,
        }
    }

    /// Finds the branch that a short name means, if nothing else has that name; with its commit.
    pub(crate) fn branch_named(&self, name: &str) -> Option<(String, String)> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        let an_id = matches!(name.len(), 40 | 64) && name.bytes().all(|b| b.is_ascii_hexdigit());
        if !name.bytes().all(plain) || name.starts_with('-') || name.contains("..") || an_id {
            return None;
        }
        // In this order git looks for what a name may mean.
        let taken = fs::symlink_metadata(self.common.join(name)).is_ok()
            || [format!("refs/{name}"), format!("refs/tags/{name}")]
                .iter()
                .any(|other| self.look_up(other) != Seen::Nowhere);
        let reference = format!("refs/heads/{name}");
        match self.seen(&reference) {
            Seen::At(commit) if !taken => Some((reference, commit)),
            _ => None,
        }
    }

    /// Whether references are kept as files.
    pub(crate) fn keeps_files(&self) -> bool {
        self.common.join("refs/heads").is_dir() && !self.common.join("reftable").exists()
    }

    fn loose(&self, reference: &str) -> Seen {
        let mut text = String::new();
        let read = fs::File::open(self.common.join(reference))
            .and_then(|file| file.take(LOOSE_MAX_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => text.strip_suffix('\n').map_or(Seen::Unsure, at),
            Err(cause) => match cause.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
                    Seen::Nowhere
                }
                _ => Seen::Unsure,
            },
        }
    }

    fn packed(&self, reference: &str) -> Seen {
        let mut text = String::new();
        let read = fs::File::open(self.common.join("packed-refs"))
            .and_then(|file| file.take(PACKED_MAX_BYTES).read_to_string(&mut text));
        match read {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Seen::Nowhere,
            Ok(read) if (read as u64) < PACKED_MAX_BYTES => {}
            _ => return Seen::Unsure,
        }
        let Some((before, _)) = text.split_once(&format!(" {reference}\n")) else {
            return Seen::Nowhere;
        };
        at(before.rsplit('\n').next().unwrap_or(before))
    }
}

fn at(id: &str) -> Seen {
    let hex = id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if hex && matches!(id.len(), 40 | 64) { Seen::At(id.to_owned()) } else { Seen::Unsure }
}
