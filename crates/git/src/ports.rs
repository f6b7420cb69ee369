//! Blocks of ports: no two worktrees of a user on this machine get the same.
//!
//! `ports.json` in the user's state directory lists the blocks with the record of the worktree that
//! has each. A block whose record is gone is free again.

use std::path::{Path, PathBuf};

use godel_model::code;
use serde::{Deserialize, Serialize};

use crate::disk::{self, Lock};
use crate::error::{Error, Result};
use crate::record::Ports;

/// The ports that worktrees may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u16,
    pub(crate) last: u16,
    pub(crate) count: u16,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Registry {
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Block {
    first: u16,
    count: u16,
    record: PathBuf,
}

impl Block {
    fn overlaps(&self, first: u32, count: u32) -> bool {
        let own = u32::from(self.first);
        first < own + u32::from(self.count) && own < first + count
    }
}

/// Gives a worktree a block; it keeps the one that it has.
pub(crate) fn allot(state: &Path, range: Range, record: &Path) -> Result<Option<Ports>> {
    if range.count == 0 {
        return Ok(None);
    }
    update(state, |registry| {
        if let Some(own) = registry.blocks.iter().find(|block| block.record == record) {
            return Ok(Some(Ports { first: own.first, count: own.count }));
        }
        let count = u32::from(range.count);
        let mut first = u32::from(range.first);
        while first + count <= u32::from(range.last) + 1 {
            if !registry.blocks.iter().any(|block| block.overlaps(first, count)) {
                let found = u16::try_from(first).unwrap_or(range.last);
                let block = Block { first: found, count: range.count, record: record.to_owned() };
                registry.blocks.push(block);
                return Ok(Some(Ports { first: found, count: range.count }));
            }
            first += count;
        }
        Err(Error::refused(
            code::PORTS_EXHAUSTED,
            format!("all ports from {} to {} belong to worktrees", range.first, range.last),
            "remove worktrees, or widen `port-range` under [worktree] in .godel/config.toml",
        ))
    })
}

/// Takes a worktree's block back.
pub(crate) fn free(state: &Path, record: &Path) -> Result<()> {
    if !state.join("ports.json").exists() {
        return Ok(());
    }
    update(state, |registry| {
        registry.blocks.retain(|block| block.record != record);
        Ok(())
    })
}

fn update<T>(state: &Path, change: impl FnOnce(&mut Registry) -> Result<T>) -> Result<T> {
    disk::private_dir(state)?;
    let _lock = Lock::take(&state.join("ports.lock"), "the ports of worktrees")?;
    let path = state.join("ports.json");
    let mut registry: Registry = disk::read_json(&path)?.unwrap_or_default();
    // Worktrees vanish with their repository; nobody gives their ports back.
    registry.blocks.retain(|block| disk::exists(&block.record));
    let done = change(&mut registry)?;
    disk::write_json(&path, &registry)?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range = Range { first: 20_000, last: 20_029, count: 10 };

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let record = |name: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, "").unwrap();
            path
        };
        let (a, b, c, d) = (record("a"), record("b"), record("c"), record("d"));
        let first = |path: &Path| allot(&state, RANGE, path).map(|ports| ports.unwrap().first);
        assert_eq!((first(&a).unwrap(), first(&b).unwrap()), (20_000, 20_010));
        assert_eq!(first(&a).unwrap(), 20_000, "a keeps its block");
        assert_eq!(first(&c).unwrap(), 20_020);
        assert!(first(&d).is_err(), "the range is used up");
        std::fs::remove_file(&b).unwrap();
        assert_eq!(first(&d).unwrap(), 20_010, "b has vanished");
        free(&state, &a).unwrap();
        let wide = Range { count: 5, ..RANGE };
        assert_eq!(allot(&state, wide, &record("e")).unwrap().unwrap().first, 20_000);
        assert_eq!(allot(&state, Range { count: 0, ..RANGE }, &d).unwrap(), None);
    }

    #[test]
    fn the_highest_port_can_be_given() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        std::fs::write(&path, "").unwrap();
        let range = Range { first: 65_530, last: 65_535, count: 6 };
        assert_eq!(allot(home.path(), range, &path).unwrap().unwrap().first, 65_530);
    }
}
