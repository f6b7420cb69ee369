//! What differs between two trees.

use gix::ObjectId;
use gix::object::tree::EntryKind;

use crate::Result;
use crate::git::Tree;

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) old: Option<ObjectId>,
    pub(crate) new: Option<ObjectId>,
}

/// Lists the files that differ between two trees; equal folders are not looked into.
pub(crate) fn diff(
    repository: &gix::Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    walk(repository, "", (old, new), &mut changes)?;
    Ok(changes)
}

fn walk(
    repository: &gix::Repository,
    prefix: &str,
    (old, new): (Option<ObjectId>, Option<ObjectId>),
    changes: &mut Vec<Change>,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let read = |id: Option<ObjectId>| {
        id.map_or_else(|| Ok(Tree::default()), |id| Tree::read(repository, id))
    };
    let (old, new) = (read(old)?, read(new)?);
    let mut names: Vec<&str> =
        old.entries().chain(new.entries()).map(|(name, _, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (before, after) = (old.entry(name), new.entry(name));
        if before == after {
            continue;
        }
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let of = |entry: Option<(EntryKind, ObjectId)>, folder: bool| {
            entry.filter(|(kind, _)| (*kind == EntryKind::Tree) == folder).map(|(_, id)| id)
        };
        walk(repository, &path, (of(before, true), of(after, true)), changes)?;
        let (before, after) = (of(before, false), of(after, false));
        if before != after {
            changes.push(Change { path, old: before, new: after });
        }
    }
    Ok(())
}
