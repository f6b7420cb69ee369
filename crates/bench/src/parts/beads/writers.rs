//! Many callers of one server: how many durable beads they make together.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Instant;

use godel_beads::ops;
use godel_beads::{Options, Writer};

use super::slow::{ADDED_MS, SlowDisk};
use super::stock::{Words, named};
use super::{open, p50};
use crate::error::{Error, Result, Told as _};
use crate::server;
use crate::table::{Bar, Row};

const CALLERS: u64 = 64;
const EACH: usize = 25;
const ROUNDS: usize = 3;
const RATE_MIN: f64 = 1_000.0;
const READY_MAX_MS: f64 = 5.0;
const READY_RUNS: usize = 200;

/// Measures what 64 callers reach, on the disk as it is and on a slow one.
pub(super) fn rates(folder: &Path, size: usize, slow: &SlowDisk) -> Result<Vec<Row>> {
    let size_named = named(size);
    let row = |what: String, rate| {
        Row::told(format!("{what}, {size_named} beads"), rate, "/s").bar(Bar::AtLeast(RATE_MIN))
    };
    let what = format!("durable creates, {CALLERS} callers");
    let mut rows = vec![
        row(what.clone(), apart(folder, None)?),
        row(format!("{what}, fsync + {ADDED_MS} ms"), apart(folder, Some(slow))?),
    ];
    let mut shelf = open(folder)?;
    shelf.ready(1).told("open the index")?;
    let ready = p50(READY_RUNS, |_| shelf.ready(50).map(drop).told("list what is ready"))?;
    let what = format!("50 that are ready, in the server, {size_named} beads, p50");
    rows.push(Row::told(what, ready, "ms").bar(Bar::Below(READY_MAX_MS)));
    Ok(rows)
}

/// Measures in a process of its own: what is loaded before it cannot be changed in this one.
fn apart(folder: &Path, slow: Option<&SlowDisk>) -> Result<f64> {
    let mut command = Command::new(server::own_path()?);
    command.arg("bead-writers").arg(folder);
    if let Some(slow) = slow {
        slow.under(&mut command);
    }
    let output = command.output().told("run the writers")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let cried = String::from_utf8_lossy(&output.stderr);
    said.trim().parse().map_err(|_| Error::new(format!("the writers failed: {}", cried.trim())))
}

/// Lets callers make beads together; returns how many they made in a second, of the median round.
pub(crate) fn rate(folder: &Path) -> Result<f64> {
    let writer = Writer::start(folder, Options::default()).told("start a writer")?;
    let mut rates = Vec::new();
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        let done: Result<Vec<()>> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS)
                .map(|caller| {
                    let words = Words::new(caller * 1_000 + round as u64);
                    scope.spawn(|| call(&writer, words))
                })
                .collect();
            let ended = callers.into_iter().map(|caller| {
                caller.join().unwrap_or_else(|_| Err(Error::new("a caller panicked")))
            });
            ended.collect()
        });
        done?;
        rates.push((CALLERS as usize * EACH) as f64 / begun.elapsed().as_secs_f64());
    }
    // The first round warms up.
    Ok(crate::stats::median(rates.into_iter().skip(1)))
}

/// Makes one bead after the other; each is durable before the next is asked for.
fn call(writer: &Writer, mut words: Words) -> Result<()> {
    for _ in 0..EACH {
        let new = words.bead();
        let (tell, told) = channel();
        let done = move |result: godel_beads::Result<_>| drop(tell.send(result.map(drop)));
        writer.submit("bench", move |draft| ops::create(draft, &new), done);
        told.recv().told("hear from the writer")?.told("make a bead")?;
    }
    Ok(())
}
