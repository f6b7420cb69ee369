//! Builds the accepted files in the object database, and touches nothing else.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use godel_model::code;

use super::Reviewing;
use super::assemble::assemble;
use super::changes::{Changes, FileChange, Side, Status};
use super::decide::{Decision, Undecided, Verdicts};
use crate::disk::{self, Lock};
use crate::error::{Error, Result, at};
use crate::git::Git;

/// What stands at a path afterwards.
struct Entry {
    mode: String,
    content: Content,
}

enum Content {
    /// Something that git has.
    Known(String),
    /// Something new.
    Bytes(Vec<u8>),
}

/// What the decisions say about one file.
struct Ruling<'a> {
    file: &'a FileChange,
    verdicts: &'a HashMap<&'a str, Verdicts>,
    undecided: Undecided,
}

impl Reviewing<'_> {
    /// Builds what the base is with the accepted parts of a change, and returns the id of its files.
    ///
    /// # Errors
    /// If files that stay and files that come are in each other's way, or git fails.
    pub fn build(
        &self,
        changes: &Changes,
        decisions: &[Decision],
        undecided: Undecided,
    ) -> Result<String> {
        let verdicts = changes.verdicts(decisions);
        let befores = self.befores(changes)?;
        let mut entries: BTreeMap<Vec<u8>, Option<Entry>> = BTreeMap::new();
        for file in &changes.files {
            let ruling = Ruling { file, verdicts: &verdicts, undecided };
            let before = file.old.as_ref().and_then(|side| befores.get(side.id.as_str()));
            // A copy leaves what it was made from.
            if file.status != Status::Copied {
                entries.entry(file.old_name.clone()).or_insert(None);
            }
            if let Some((name, entry)) = ruling.outcome(before.map_or(&[], Vec::as_slice)) {
                entries.insert(name, Some(entry));
            }
        }
        refuse_nested(&entries)?;
        self.write(&changes.base, entries)
    }

    /// Reads how the files were that are decided line by line.
    fn befores(&self, changes: &Changes) -> Result<HashMap<String, Vec<u8>>> {
        let divided = changes.files.iter().filter(|file| !file.entire && !file.hunks.is_empty());
        let mut ids: Vec<&str> =
            divided.filter_map(|file| file.old.as_ref()).map(|side| side.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut found = HashMap::new();
        if ids.is_empty() {
            return Ok(found);
        }
        let git = self.repo().ask().args(["cat-file", "--batch=%(objectsize)", "--buffer"]);
        let bytes = git.input(ids.join("\n") + "\n").bytes()?;
        let mut rest = bytes.as_slice();
        for id in ids {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| size.parse().ok());
            let content = size.and_then(|size: usize| rest.get(end + 1..end + 1 + size));
            let content = content.ok_or_else(|| Error::Git {
                command: "cat-file".to_owned(),
                said: format!("the content {id} is missing"),
            })?;
            found.insert(id.to_owned(), content.to_vec());
            rest = rest.get(end + 2 + content.len()..).unwrap_or_default();
        }
        Ok(found)
    }

    /// Writes new contents and the tree, by way of an index that is nobody's.
    fn write(&self, base: &str, entries: BTreeMap<Vec<u8>, Option<Entry>>) -> Result<String> {
        self.bench.prepare()?;
        let state = self.repo().state();
        let lock = Lock::take(&state.join("review.lock"), "a review of this repository")?;
        let scratch = Scratch::new(state.join("review"))?;
        let mut news = String::new();
        for (number, bytes) in entries.values().flatten().filter_map(Entry::bytes).enumerate() {
            let path = scratch.0.join(number.to_string());
            fs::write(&path, bytes).map_err(at(&path, "written"))?;
            news.push_str(&format!("{number}\n"));
        }
        let git = || {
            let git = Git::within(&scratch.0).env("GIT_DIR", &self.repo().common).hold(lock.file());
            git.env("GIT_INDEX_FILE", scratch.0.join("index"))
        };
        let mut ids = String::new();
        if !news.is_empty() {
            let asked = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
            ids = git().args(asked).input(news).line()?;
        }
        let mut ids = ids.lines();
        // What goes makes room before something comes.
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        for (name, entry) in &entries {
            let (list, line) = match entry {
                None => (&mut gone, format!("0 {}\t", "0".repeat(base.len()))),
                Some(Entry { mode, content: Content::Known(id) }) => {
                    (&mut there, format!("{mode} {id}\t"))
                }
                Some(Entry { mode, content: Content::Bytes(_) }) => {
                    (&mut there, format!("{mode} {}\t", ids.next().unwrap_or_default()))
                }
            };
            list.extend_from_slice(line.as_bytes());
            list.extend_from_slice(name);
            list.push(0);
        }
        gone.extend_from_slice(&there);
        git().args(["read-tree", base]).run()?;
        git().args(["update-index", "-z", "--index-info"]).input(gone).run()?;
        git().args(["write-tree"]).line()
    }
}

impl Entry {
    fn of(side: &Side) -> Self {
        Self { mode: side.mode.clone(), content: Content::Known(side.id.clone()) }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Known(_) => None,
            Content::Bytes(bytes) => Some(bytes),
        }
    }
}

impl Ruling<'_> {
    /// Returns where the file is afterwards, and what it is; nothing if it is nowhere.
    fn outcome(&self, before: &[u8]) -> Option<(Vec<u8>, Entry)> {
        let file = self.file;
        let whole = file.key.as_deref().is_none_or(|key| self.accepts(key));
        let place =
            |side: Option<&Side>, name: &[u8]| side.map(|side| (name.to_vec(), Entry::of(side)));
        if file.entire || file.hunks.is_empty() {
            return match (whole, file.status) {
                (true, _) => place(file.new.as_ref(), &file.name),
                (false, Status::Copied) => None,
                (false, _) => place(file.old.as_ref(), &file.old_name),
            };
        }
        if file.status == Status::Copied && !whole {
            return None;
        }
        let hunks = file
            .hunks
            .iter()
            .filter_map(|hunk| Some((hunk, self.verdicts.get(hunk.key.as_str())?)));
        let hunks: Vec<_> = hunks.collect();
        let bytes = assemble(before, &hunks, self.undecided);
        // One without a line would not be there before, or is not there after.
        let lone = matches!(file.status, Status::Added | Status::Deleted);
        if lone && bytes.is_empty() {
            return None;
        }
        let new = (file.new.as_ref(), &file.name);
        let old = (file.old.as_ref(), &file.old_name);
        let (side, name) = if whole && file.new.is_some() { new } else { old };
        let mode = side.or(file.new.as_ref())?.mode.clone();
        Some((name.clone(), Entry { mode, content: Content::Bytes(bytes) }))
    }

    fn accepts(&self, key: &str) -> bool {
        let said = self.verdicts.get(key).and_then(|one| one.lines.first().copied().flatten());
        said.unwrap_or(self.undecided == Undecided::Keep)
    }
}

/// A file cannot be where a directory is.
fn refuse_nested(entries: &BTreeMap<Vec<u8>, Option<Entry>>) -> Result<()> {
    for name in entries.iter().filter(|(_, entry)| entry.is_some()).map(|(name, _)| name) {
        let above = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for folder in above.map(|at| &name[..at]) {
            if entries.get(folder).is_some_and(Option::is_some) {
                let (folder, name) =
                    (String::from_utf8_lossy(folder), String::from_utf8_lossy(name));
                return Err(Error::refused(
                    code::INVALID_FIELD,
                    format!("{folder:?} and {name:?} cannot both be there"),
                    "accept both changes, or reject both: one of the files takes the other's place",
                ));
            }
        }
    }
    Ok(())
}

/// A directory that is gone afterwards; what a killed process left is removed before.
struct Scratch(PathBuf);

impl Scratch {
    fn new(path: PathBuf) -> Result<Self> {
        match fs::remove_dir_all(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::file(&path, "removed", cause));
            }
            _ => {}
        }
        disk::private_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}
