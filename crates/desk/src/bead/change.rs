//! `godel bead comment`, `label`, `defer` and `delete`.

use godel_args::bead::Defer;
use godel_beads::ops;
use godel_console::output::plain;
use godel_console::{Error, Exit, Result};
use serde_json::json;

use super::{answer, found};
use crate::desk::Desk;

/// Says something about a bead.
pub(super) fn comment(desk: &Desk, id: String, text: &str) -> Result<Exit> {
    let text = desk.text(text)?;
    let mut shelf = desk.shelf()?;
    let bead = found(&mut shelf, &id)?.id;
    let name = bead.clone();
    let comment = desk.write(&mut shelf, move |draft| ops::comment(draft, &name, &text))?;
    if desk.output.is_json() {
        desk.output.value(&json!({ "bead": bead, "comment": comment }))?;
    } else {
        desk.output.line(format_args!("Commented on bead {bead}"))?;
    }
    Ok(Exit::Done)
}

/// Adds and removes labels.
pub(super) fn label(
    desk: &Desk,
    id: String,
    add: Vec<String>,
    remove: Vec<String>,
) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = desk.write(&mut shelf, move |draft| ops::label(draft, &id, &add, &remove))?;
    let sentence = match bead.labels.len() {
        0 => format!("{} has no labels", bead.id),
        _ => format!("{} has the labels {}", bead.id, bead.labels.join(", ")),
    };
    answer(desk, &bead, &sentence)
}

/// Puts a bead off.
pub(super) fn defer(desk: &Desk, asked: Defer) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let now = shelf.now();
    let until = asked.until.filter(|_| !asked.clear).map(|when| when.ahead(now));
    if let Some(until) = until.filter(|until| *until <= now) {
        let message = format!("{until:.0} is over");
        return Err(Error::usage(message, "name a time that is still to come, such as 3d"));
    }
    let bead = desk.write(&mut shelf, move |draft| ops::defer(draft, &asked.id, until))?;
    let sentence = match bead.defer {
        Some(until) => format!("{} is put off until {until:.0}", bead.id),
        None => format!("{} is not put off", bead.id),
    };
    answer(desk, &bead, &sentence)
}

/// Deletes a bead.
pub(super) fn delete(desk: &Desk, id: String, yes: bool, force: bool) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = found(&mut shelf, &id)?;
    if !yes {
        let message =
            format!("deleting {} ({}) also takes it from all clones", bead.id, plain(&bead.title));
        return Err(Error::usage(message, "add --yes if that is what you want"));
    }
    let name = bead.id.clone();
    desk.write(&mut shelf, move |draft| ops::delete(draft, &name, force, None))?;
    if desk.output.is_json() {
        desk.output.value(&json!({ "deleted": bead.id }))?;
    } else {
        desk.output.line(format_args!("Deleted bead {}", bead.id))?;
    }
    Ok(Exit::Done)
}
