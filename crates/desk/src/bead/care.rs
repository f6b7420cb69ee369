//! `godel bead fsck` and `maintain`: looking after what was written.

use godel_console::output::plain;
use godel_console::{Exit, Result};

use crate::desk::Desk;

/// Checks all documents; it is a failure if something stays damaged.
pub(super) fn fsck(desk: &Desk, repair: bool) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let by = desk.name(&shelf);
    let checked = shelf.fsck(&by, repair)?;
    let sound = checked.damaged.is_empty() && checked.circles.is_empty();
    let exit = if sound { Exit::Done } else { Exit::Failure };
    if desk.output.is_json() {
        desk.output.value(&checked)?;
        return Ok(exit);
    }
    for path in &checked.mended {
        desk.output.line(plain(&format!("mended   {path}: brought back from the history")))?;
    }
    for (path, why) in &checked.damaged {
        desk.output.line(plain(&format!("damaged  {path}: {why}")))?;
    }
    for circle in &checked.circles {
        let path = plain(&circle.join(" -> "));
        desk.output.line(format_args!("circle   {path}: `godel bead dep remove` opens it"))?;
    }
    let beads = checked.beads;
    match (sound, repair) {
        (true, _) => desk.output.line(format_args!("{beads} beads, all is well"))?,
        (false, false) if !checked.damaged.is_empty() => {
            desk.output.note("hint: `godel bead fsck --repair` takes the last good versions");
        }
        (false, _) => {}
    }
    Ok(exit)
}

/// Packs what commands have written.
pub(super) fn maintain(desk: &Desk) -> Result<Exit> {
    let done = desk.shelf()?.maintain()?;
    if desk.output.is_json() {
        desk.output.value(&done)?;
    } else {
        desk.output.line(format_args!(
            "put {} packs with {} objects together",
            done.packs, done.objects
        ))?;
    }
    Ok(Exit::Done)
}
