//! `godel convoy status` and `waves`: how far a convoy is.

use godel_beads::{ConvoyState, Row};
use godel_console::output::{STRONG, WARN, plain, styled};
use godel_console::{Exit, Result};
use serde_json::json;

use crate::bead::state;
use crate::desk::Desk;

/// Shows how far a convoy is, and every bead in it.
pub(super) fn status(desk: &Desk, name: &str) -> Result<Exit> {
    let shown = desk.shelf()?.convoy_state(name)?;
    let output = desk.output;
    if output.is_json() {
        output.value(&shown)?;
        return Ok(Exit::Done);
    }
    let ConvoyState { convoy, progress, .. } = &shown;
    output.line(format_args!("{}  {}", styled(STRONG, &convoy.id), plain(&convoy.name)))?;
    let done = format!("{}/{} done ({}%)", progress.done, progress.total, progress.percent);
    let counts = [
        ("open", progress.open),
        ("in progress", progress.in_progress),
        ("in review", progress.review),
        ("blocked", progress.blocked),
    ];
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(what, count)| format!("{count} {what}")).collect();
    let mut facts =
        vec![["status".to_owned(), convoy.status.clone()], ["progress".to_owned(), done]];
    if !counts.is_empty() {
        facts.push(["beads".to_owned(), counts.join(", ")]);
    }
    let text = convoy.description.iter().flat_map(|text| text.lines().next());
    facts.extend(text.map(|text| ["about".to_owned(), text.to_owned()]));
    output.pairs(facts)?;
    if let Some(why) = &shown.stalled {
        output.line(format_args!("  {}  {}", styled(WARN, "stalled"), plain(why)))?;
    }
    let rows = rows(&shown);
    if !rows.is_empty() {
        output.line("")?;
        output.listing(["WAVE", "ID", "STATUS", "PRIORITY", "AGENT", "TITLE"], rows)?;
    }
    mention_missing(desk, &shown);
    Ok(Exit::Done)
}

fn rows(shown: &ConvoyState) -> Vec<[String; 6]> {
    let row = |wave: &str, row: &Row| {
        let agent = row.agent.clone().unwrap_or_else(|| "-".to_owned());
        let priority = row.priority.to_string();
        [wave.to_owned(), row.id.clone(), state(row), priority, agent, row.title.clone()]
    };
    let waves = shown.waves.iter().enumerate().flat_map(|(at, wave)| {
        let number = (at + 1).to_string();
        wave.iter().map(move |one| row(&number, one))
    });
    waves.chain(shown.tangled.iter().map(|one| row("-", one))).collect()
}

/// Tells what is in no wave, and why.
fn mention_missing(desk: &Desk, shown: &ConvoyState) {
    if !shown.missing.is_empty() {
        let missing = plain(&shown.missing.join(", "));
        desk.output.note(format_args!("warning: not here: {missing}; `godel sync` may bring them"));
    }
    if !shown.tangled.is_empty() {
        let ids: Vec<&str> = shown.tangled.iter().map(|row| row.id.as_str()).collect();
        desk.output.note(format_args!(
            "warning: {} wait for each other, and so are in no wave\n  hint: remove one of their \
             links with `godel bead dep remove`",
            ids.join(", ")
        ));
    }
}

/// Shows what can be done at the same time.
pub(super) fn waves(desk: &Desk, name: &str) -> Result<Exit> {
    let shown = desk.shelf()?.convoy_state(name)?;
    if desk.output.is_json() {
        let ConvoyState { convoy, waves, tangled, missing, .. } = &shown;
        desk.output.value(&json!({
            "id": convoy.id, "waves": waves, "tangled": tangled, "missing": missing,
        }))?;
        return Ok(Exit::Done);
    }
    for (at, wave) in shown.waves.iter().enumerate() {
        desk.output.line(styled(STRONG, format_args!("Wave {}", at + 1)))?;
        let row = |row: &Row| [format!("  {}", row.id), state(row), row.title.clone()];
        desk.output.bare(&mut wave.iter().map(row).collect::<Vec<_>>())?;
    }
    mention_missing(desk, &shown);
    Ok(Exit::Done)
}
