//! `godel bead log` and `watch`: what was done, and what is being done.

use std::time::Duration;

use godel_beads::{Bead, Entry, Happening};
use godel_console::output::{cut, plain};
use godel_console::{Exit, Result};
use serde_json::json;

use super::found;
use crate::desk::Desk;

/// How often the branch is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many acts are read at once.
const PAGE: usize = 1_000;

/// Tells what was done, the newest first.
pub(super) fn log(desk: &Desk, name: Option<&str>, limit: u32) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let id = name.map(|name| found(&mut shelf, name)).transpose()?.map(|bead| bead.id);
    let mut entries = shelf.log(id.as_deref(), limit as usize + 1)?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    if desk.output.is_json() {
        desk.output.value(&json!({ "items": entries, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    entries.iter().try_for_each(|entry| print(desk, entry))?;
    if more {
        desk.output.note("there is more: raise --limit");
    }
    Ok(Exit::Done)
}

/// Tells what is done, until somebody ends it.
pub(super) fn watch(desk: &Desk) -> Result<Exit> {
    let shelf = desk.shelf()?;
    let mut reached = shelf.commit()?;
    desk.output.remark("watching; Ctrl-C ends it");
    loop {
        let now = shelf.commit()?;
        if now != reached {
            let (happenings, next) = shelf.happenings(reached.as_deref(), PAGE)?;
            happenings.iter().try_for_each(|one| tell(desk, one))?;
            reached = next.or(now);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn tell(desk: &Desk, happening: &Happening) -> Result<()> {
    let Happening { entry, after, .. } = happening;
    if !desk.output.is_json() {
        return print(desk, entry);
    }
    let mut line = json!(entry);
    if let Some(after) = after.as_ref().filter(|_| entry.event.starts_with("bead:")) {
        line["bead"] = json!(Bead::of(after));
    }
    desk.output.value(&line)
}

fn print(desk: &Desk, entry: &Entry) -> Result<()> {
    let line = plain(&format!("{:.0}  {}  {}", entry.at, entry.by, entry.line));
    desk.output.line(cut(&line, desk.output.width().unwrap_or(usize::MAX)))
}
