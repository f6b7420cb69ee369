//! `beads`: what work that lives in git costs, as a program and inside the server.

mod cost;
mod growth;
mod program;
mod slow;
mod stock;
pub(crate) mod writers;

use std::path::Path;
use std::time::Instant;

use godel_beads::Shelf;
use godel_beads::ops::{self, NewBead};

use self::program::Program;
use self::slow::SlowDisk;
use self::stock::Words;
use super::Bench;
use crate::error::{Result, Told as _};
use crate::table::Row;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    // Nothing of it waits for anything but the disk and other programs.
    tokio::task::block_in_place(|| all(bench))
}

fn all(bench: &Bench) -> Result<Vec<Row>> {
    let slow = SlowDisk::make(&bench.folder("slow-disk"))?;
    let mut rows = Vec::new();
    for size in SIZES {
        let folder = bench.folder(&format!("beads-{size}"));
        let begun = Instant::now();
        stock::fill(&folder, size)?;
        note(&format!("{} beads were made in {:.1?}", stock::named(size), begun.elapsed()));
    }
    for size in SIZES {
        let folder = bench.folder(&format!("beads-{size}"));
        told(&mut rows, Program::new(&bench.program, &folder, size).measure(&slow)?);
    }
    for size in [SIZES[0], SIZES[2]] {
        let folder = bench.folder(&format!("beads-{size}"));
        told(&mut rows, writers::rates(&folder, size, &slow)?);
    }
    let [small, middle, large] = SIZES.map(|size| bench.folder(&format!("beads-{size}")));
    told(&mut rows, cost::ratios(bench, &small, &large)?);
    told(&mut rows, growth::disk(&middle)?);
    told(&mut rows, cost::index(bench, &large)?);
    Ok(rows)
}

/// Adds numbers, and shows them at once: the whole takes minutes.
fn told(rows: &mut Vec<Row>, new: Vec<Row>) {
    new.iter().for_each(|row| note(&row.to_string()));
    rows.extend(new);
}

#[expect(clippy::print_stderr, reason = "progress of a command line tool")]
fn note(line: &str) {
    eprintln!("  . {line}");
}

/// Opens the shelf of a repository.
fn open(folder: &Path) -> Result<Shelf> {
    Shelf::open(folder).told("open a shelf")
}

/// Makes one bead, durably.
fn create(shelf: &mut Shelf, new: NewBead) -> Result<()> {
    shelf.write("bench", move |draft| ops::create(draft, &new)).map(drop).told("make a bead")
}

/// Returns how long something takes at most half of the time, in milliseconds.
fn p50(runs: usize, mut run: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let mut took = Vec::with_capacity(runs);
    for at in 0..runs {
        let begun = Instant::now();
        run(at)?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(crate::stats::median(took))
}

/// Returns words for beads that are made one at a time.
fn words() -> Words {
    Words::new(7)
}
