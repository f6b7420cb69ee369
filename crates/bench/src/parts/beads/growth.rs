//! How much disk an operation takes for good.

use std::path::Path;
use std::sync::mpsc::channel;

use godel_beads::ops::{self, Changes};
use godel_beads::{Draft, Filter, Options, Page, Shelf, Writer};

use super::open;
use super::stock::Words;
use crate::error::{Result, Told as _};
use crate::table::{Bar, Row};

const CREATES: usize = 5_000;
const UPDATES: usize = 5_000;
const BYTES_MAX: f64 = 1_024.0;

/// Measures how much the repository grows, once what was written is packed.
pub(super) fn disk(folder: &Path) -> Result<Vec<Row>> {
    let mut shelf = open(folder)?;
    let page = Page { limit: UPDATES, ..Page::default() };
    let ids = shelf.list(&Filter::everything(), &page).told("list beads")?;
    let mut words = Words::new(23);
    let before = settled(&mut shelf, folder)?;
    let news: Vec<_> = (0..CREATES).map(|_| words.bead()).collect();
    write(folder, news, |draft, new| ops::create(draft, new).map(drop))?;
    let created = settled(&mut shelf, folder)?;
    let changes = ids.into_iter().map(|row| {
        let description = words.bead().description;
        (row.id, Changes { description, ..Changes::default() })
    });
    let changes: Vec<_> = changes.collect();
    write(folder, changes, |draft, (id, changes)| ops::update(draft, id, changes).map(drop))?;
    let updated = settled(&mut shelf, folder)?;
    let each = |from: u64, to: u64, count: usize| to.saturating_sub(from) as f64 / count as f64;
    let row = |what, bytes| Row::told(what, bytes, "bytes").bar(Bar::Below(BYTES_MAX));
    let index = size(&folder.join(".git/godel/index.db")).saturating_sub(before.1);
    Ok(vec![
        row("a create takes of the disk, packed", each(before.0, created.0, CREATES)),
        row("an update takes of the disk, packed", each(created.0, updated.0, UPDATES)),
        Row::told("the index takes for each of both", index as f64 / 10_000.0, "bytes"),
    ])
}

/// Packs what is there; returns the size of all of git's files, and of the index.
fn settled(shelf: &mut Shelf, folder: &Path) -> Result<(u64, u64)> {
    shelf.maintain().told("put packs together")?;
    Ok((size(&folder.join(".git/objects")), size(&folder.join(".git/godel/index.db"))))
}

/// Returns the size of a file, or of all files in a folder.
fn size(path: &Path) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(&entry.path())).sum()
}

/// Makes changes one after the other: each is a commit of its own.
fn write<T: Send + 'static>(
    folder: &Path,
    changes: Vec<T>,
    work: fn(&mut Draft<'_>, &T) -> godel_beads::Result<()>,
) -> Result<()> {
    let writer = Writer::start(folder, Options::default()).told("start a writer")?;
    let (tell, told) = channel();
    for change in changes {
        let tell = tell.clone();
        let done = move |result| drop(tell.send(result));
        writer.submit("bench", move |draft| work(draft, &change), done);
        told.recv().told("hear from the writer")?.told("write")?;
    }
    Ok(())
}
