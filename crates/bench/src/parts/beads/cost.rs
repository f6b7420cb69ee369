//! Whether a write costs more in a large shelf or a long history, and what the index costs.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Instant;

use godel_beads::ops::{self, Changes};
use godel_beads::{Draft, Filter, Options, Page, Shelf, Writer};

use super::super::Bench;
use super::program::Program;
use super::stock::{Words, copy, git};
use super::{create, note, open, p50, words};
use crate::error::{Result, Told as _};
use crate::table::{Bar, Row};

const PAST: usize = 100_000;
const WRITES: usize = 200;
/// They run in turns, so that all suffer alike from company.
const ROUNDS: usize = 5;
const RATIO_MAX: f64 = 1.5;
const REBUILD_MAX_S: f64 = 10.0;
const CATCH_UP_MAX_MS: f64 = 20.0;
const CHANGED: usize = 10;
const CATCH_UPS: usize = 20;

/// Compares a write at the start with one in a large shelf and one after a long history.
pub(super) fn ratios(bench: &Bench, small: &Path, large: &Path) -> Result<Vec<Row>> {
    let old = bench.folder("beads-old");
    copy(small, &old)?;
    let begun = Instant::now();
    past(&old)?;
    note(&format!("{PAST} operations took {:.1?}", begun.elapsed()));
    let folders = [small, large, old.as_path()];
    let (mut inside, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        inside.push(each(folders, within)?);
        whole.push(each(folders, |folder| as_program(bench, folder))?);
    }
    let [start, at_large, after] = middle(&inside);
    let [first, whole_large, whole_after] = middle(&whole);
    let row = |what, ratio| Row::told(what, ratio, "x").bar(Bar::AtMost(RATIO_MAX));
    Ok(vec![
        Row::told("a write inside the server, 1,000 beads, p50", start, "ms"),
        Row::told("the same, 100,000 beads", at_large, "ms"),
        Row::told("the same, 1,000 beads and 100,000 past operations", after, "ms"),
        row("a write inside the server at 100,000 beads, ratio to 1,000", at_large / start),
        row("the same after 100,000 operations, ratio to before", after / start),
        row("`bead create` at 100,000 beads, ratio to 1,000", whole_large / first),
        row("`bead create` after 100,000 operations, ratio to before", whole_after / first),
    ])
}

/// Takes the turn of each folder, one after the other: what slows the machine down slows all of them.
fn each(folders: [&Path; 3], measure: impl Fn(&Path) -> Result<f64>) -> Result<[f64; 3]> {
    Ok([measure(folders[0])?, measure(folders[1])?, measure(folders[2])?])
}

fn middle(rounds: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|at| crate::stats::median(rounds.iter().map(|round| round[at])))
}

/// Returns what `bead create` takes as a whole process.
fn as_program(bench: &Bench, folder: &Path) -> Result<f64> {
    open(folder)?.maintain().told("put packs together")?;
    Program::new(&bench.program, folder, 0).create(None)
}

/// Returns what one write takes in a shelf that stays open.
fn within(folder: &Path) -> Result<f64> {
    let mut shelf = open(folder)?;
    shelf.maintain().told("put packs together")?;
    let mut words = words();
    let mut write = |_| create(&mut shelf, words.bead());
    p50(WRITES / 4, &mut write)?;
    p50(WRITES, write)
}

/// Gives a shelf a long history: changes of one bead after the other.
fn past(folder: &Path) -> Result<()> {
    let page = Page { limit: 1_000, ..Page::default() };
    let rows = open(folder)?.list(&Filter::everything(), &page).told("list beads")?;
    let writer = Writer::start(folder, Options::default()).told("start a writer")?;
    let mut words = Words::new(11);
    let (tell, told) = channel();
    for at in 0..PAST {
        let changes = Changes { description: words.bead().description, ..Changes::default() };
        let (id, tell) = (rows[at % rows.len()].id.clone(), tell.clone());
        let done = move |result: godel_beads::Result<_>| drop(tell.send(result.map(drop)));
        writer.submit("bench", move |draft| ops::update(draft, &id, &changes), done);
        // A queue without end would only fill memory.
        if at >= 2_000 {
            told.recv().told("hear from the writer")?.told("change a bead")?;
        }
    }
    drop(tell);
    told.iter().try_for_each(|done| done.told("change a bead"))
}

/// Measures building the index anew, and catching up with what somebody else wrote.
pub(super) fn index(bench: &Bench, large: &Path) -> Result<Vec<Row>> {
    std::fs::remove_file(large.join(".git/godel/index.db")).told("remove the index")?;
    let begun = Instant::now();
    let mut reader = open(large)?;
    reader.ready(1).told("build the index")?;
    let rebuild = begun.elapsed().as_secs_f64();
    let page = Page { limit: 1_000, ..Page::default() };
    let rows = reader.list(&Filter::everything(), &page).told("list beads")?;
    let ids: Vec<String> = rows.into_iter().map(|row| row.id).collect();
    // A clone has an index of its own, so that this one is left behind.
    let clone = bench.folder("beads-clone");
    let (from, to) = (large.display().to_string(), clone.display().to_string());
    git(large, &["clone", "--quiet", "--bare", "--shared", &from, &to])?;
    let mut writer = open(&clone)?;
    let mut words = words();
    let mut took = Vec::new();
    for round in 0..CATCH_UPS {
        change(&mut writer, &ids[round * CHANGED..(round + 1) * CHANGED], &mut words)?;
        git(large, &["fetch", "--quiet", &to, "godel/state:godel/state"])?;
        let begun = Instant::now();
        reader.ready(1).told("catch up")?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let caught_up = crate::stats::median(took);
    Ok(vec![
        Row::told("building the index of 100,000 beads from git", rebuild, "s")
            .bar(Bar::Below(REBUILD_MAX_S)),
        Row::told("catching up with 10 changed beads, 100,000 beads, p50", caught_up, "ms")
            .bar(Bar::Below(CATCH_UP_MAX_MS)),
    ])
}

/// Changes some beads in one write.
fn change(shelf: &mut Shelf, ids: &[String], words: &mut Words) -> Result<()> {
    let text = words.bead().description;
    let ids = ids.to_vec();
    let work = move |draft: &mut Draft<'_>| {
        let changes = Changes { description: text.clone(), ..Changes::default() };
        ids.iter().try_for_each(|id| ops::update(draft, id, &changes).map(drop))
    };
    shelf.write("bench", work).told("change beads")
}
