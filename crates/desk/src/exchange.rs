//! `godel sync`, `import`, `export` and `prime`: beads for other clones, tools and agents.

use std::io::Write as _;
use std::path::Path;

use godel_beads::{Filter, Page, Synced};
use godel_console::output::plain;
use godel_console::{Error, Exit, Result};
use godel_model::BeadStatus;
use serde_json::json;

use crate::desk::Desk;

/// The largest file that is imported.
const IMPORT_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Exchanges beads with a remote.
pub(crate) fn sync(desk: &Desk, remote: Option<&str>) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let synced = shelf.sync(remote)?;
    desk.keep_up(&shelf);
    warn(desk, &synced);
    if desk.output.is_json() {
        desk.output.value(&synced)?;
        return Ok(Exit::Done);
    }
    let Synced { remote, received, sent, .. } = &synced;
    let sent = if *sent { "sent what was new here" } else { "there was nothing to send" };
    let line = format!("Synced with {remote}: {received} received, {sent}");
    desk.output.line(plain(&line))?;
    Ok(Exit::Done)
}

/// Tells what a person should know about a merge.
fn warn(desk: &Desk, synced: &Synced) {
    for (old, new) in &synced.renamed {
        desk.output.note(format_args!("note: another bead had the id {old} first; ours is {new}"));
    }
    for (bead, ours, theirs) in &synced.lost_claims {
        let line = format!(
            "warning: {bead} was claimed by {theirs} before {ours} did here; its work tree is kept"
        );
        desk.output.note(plain(&line));
    }
    for circle in &synced.circles {
        let path = circle.join(" -> ");
        desk.output.note(format_args!(
            "warning: {path} now wait for each other\n  hint: remove one of these links with `godel \
             bead dep remove`"
        ));
    }
}

/// Imports the JSONL of bd.
pub(crate) fn import(desk: &Desk, file: &Path, dry_run: bool) -> Result<Exit> {
    let text = desk.read(file, IMPORT_MAX_BYTES)?;
    let mut shelf = desk.shelf()?;
    let by = desk.name(&shelf);
    let done = shelf.import_bd(&by, &text, dry_run)?;
    desk.keep_up(&shelf);
    if desk.output.is_json() {
        desk.output.value(&done)?;
        return Ok(Exit::Done);
    }
    if dry_run {
        for change in &done.changes {
            let sign = if change.is_new { "+" } else { "~" };
            desk.output.line(plain(&format!("{sign} {} {}", change.id, change.title)))?;
            for field in &change.fields {
                let value =
                    |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
                let (before, after) = (value(&field.before), value(&field.after));
                desk.output.line(plain(&format!("    {}: {before} -> {after}", field.name)))?;
            }
        }
        let listed = done.changes.len();
        let rest = (done.created + done.updated).saturating_sub(listed);
        if rest > 0 {
            desk.output.note(format_args!("and {rest} more"));
        }
    }
    let would = if dry_run { "Would import" } else { "Imported" };
    desk.output.line(format_args!(
        "{would}: {} new, {} updated, {} unchanged",
        done.created, done.updated, done.unchanged
    ))?;
    Ok(Exit::Done)
}

/// Exports the JSONL of bd.
pub(crate) fn export(desk: &Desk, file: Option<&Path>) -> Result<Exit> {
    let text = desk.shelf()?.export_bd()?;
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        desk.output.text(text)?;
        return Ok(Exit::Done);
    };
    replace(file, &text).map_err(|cause| Error::file(&file.display(), "written", cause))?;
    let count = text.lines().count();
    if desk.output.is_json() {
        desk.output.value(&json!({ "file": file, "beads": count }))?;
    } else {
        desk.output.line(format_args!("Exported {count} beads to {}", file.display()))?;
    }
    Ok(Exit::Done)
}

/// Writes a file that is there as a whole or not at all; what is no plain file is written to.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return std::fs::write(path, text);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::File::create(&part)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // It may not have been made at all.
        std::fs::remove_file(&part).ok();
    }
    written
}

/// Prints what a fresh agent needs to know.
pub(crate) fn prime(desk: &Desk, bead: Option<String>) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = match (bead, desk.agent()) {
        (None, Some(agent)) => {
            let statuses = vec![BeadStatus::InProgress];
            let filter = Filter { statuses, agent: Some(agent), ..Filter::default() };
            let mut held = shelf.list(&filter, &Page { limit: 2, ..Page::default() })?;
            // Of several nobody can say which is meant.
            held.pop().filter(|_| held.is_empty()).map(|row| row.id)
        }
        (bead, _) => bead,
    };
    let text = shelf.prime(bead.as_deref())?;
    if desk.output.is_json() {
        desk.output.value(&json!({ "bead": bead, "text": text }))?;
        return Ok(Exit::Done);
    }
    let lines: Vec<String> = text.lines().map(|line| plain(&line.replace('\t', "    "))).collect();
    desk.output.line(lines.join("\n"))?;
    Ok(Exit::Done)
}
