//! `godel bead status`, `close`, `reopen`, `verdict` and `landed`: how a bead comes to its end.

use godel_args::bead::{Close, Landed, Status, Verdict};
use godel_beads::ops::{self, Advance, Landing};
use godel_console::output::plain;
use godel_console::{Error, Exit, Result};
use godel_model::BeadStatus;
use serde_json::json;

use super::claim::holder;
use super::{answer, found, ready};
use crate::desk::Desk;

/// Shows the status of a bead, or moves it.
pub(super) fn status(desk: &Desk, asked: Status) -> Result<Exit> {
    let Some(to) = asked.to else { return tell(desk, &asked.held.id) };
    let mut shelf = desk.shelf()?;
    let (bead, token) = holder(desk, &mut shelf, asked.held, asked.force)?;
    let wanted = Advance {
        to,
        token,
        force: asked.reason.filter(|_| asked.force),
        evidence: shelf.evidence(&bead)?,
    };
    let id = bead.id;
    let moved = desk.write(&mut shelf, move |draft| ops::advance(draft, &id, &wanted))?;
    let sentence = if bead.status == moved.status {
        format!("{} is {} already", moved.id, moved.status)
    } else {
        format!("{} moved from {} to {}", moved.id, bead.status, moved.status)
    };
    answer(desk, &moved, &sentence)
}

/// Tells the status in a line, and what keeps the bead in another.
fn tell(desk: &Desk, name: &str) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = found(&mut shelf, name)?;
    let reasons = if bead.is_closed() { Vec::new() } else { shelf.reasons(&bead.id)? };
    if desk.output.is_json() {
        desk.output.value(&json!({
            "id": bead.id,
            "status": bead.status,
            "agent": bead.agent,
            "lease": bead.lease,
            "resolution": bead.resolution,
            "deletedAt": bead.deleted_at,
            "waitsFor": reasons,
        }))?;
        return Ok(Exit::Done);
    }
    let agent = bead.agent.as_deref().filter(|_| bead.status != BeadStatus::Done);
    let agent = agent.map(|agent| format!(" ({agent})")).unwrap_or_default();
    let deleted = if bead.deleted_at.is_some() { ", deleted" } else { "" };
    let line = format!("{} is {}{agent}{deleted}: {}", bead.id, bead.status, bead.title);
    desk.output.line(plain(&line))?;
    let reasons: Vec<String> = reasons.iter().map(ready::why).collect();
    if !reasons.is_empty() {
        desk.output.line(format_args!("  {}", plain(&reasons.join(", "))))?;
    }
    Ok(Exit::Done)
}

/// Closes a bead.
pub(super) fn close(desk: &Desk, asked: Close) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let (bead, token) = holder(desk, &mut shelf, asked.held, asked.force)?;
    let wanted = ops::Close {
        resolution: asked.resolution,
        reason: asked.reason,
        token,
        force: asked.force,
        evidence: shelf.evidence(&bead)?,
    };
    let id = bead.id;
    let closed = desk.write(&mut shelf, move |draft| ops::close(draft, &id, &wanted))?;
    let kind = closed.resolution.as_ref().and_then(|known| known["kind"].as_str());
    answer(desk, &closed, &format!("Closed bead {} as {}", closed.id, kind.unwrap_or("done")))
}

/// Opens a bead again.
pub(super) fn reopen(desk: &Desk, id: String, reason: String) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = desk.write(&mut shelf, move |draft| ops::reopen(draft, &id, &reason))?;
    answer(desk, &bead, &format!("Reopened bead {}", bead.id))
}

/// Records what a gate said.
pub(super) fn verdict(desk: &Desk, asked: Verdict) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = found(&mut shelf, &asked.id)?;
    let commit = match asked.commit {
        Some(name) => desk.commit(&name)?,
        None => shelf.evidence(&bead)?.head.ok_or_else(|| {
            let message = format!("there is no branch bead/{} whose commit is meant", bead.id);
            Error::usage(message, "name the commit with --commit")
        })?,
    };
    let passed = asked.passed;
    let verdict = ops::Verdict { gate: asked.gate, passed, commit, detail: asked.detail };
    let sentence = format!(
        "Recorded for bead {}: {} {} on {}",
        bead.id,
        verdict.gate,
        if passed { "passed" } else { "failed" },
        verdict.commit.get(..10).unwrap_or(&verdict.commit)
    );
    let id = bead.id;
    let bead = desk.write(&mut shelf, move |draft| ops::record_verdict(draft, &id, &verdict))?;
    answer(desk, &bead, &sentence)
}

/// Records how work got into a branch.
pub(super) fn landed(desk: &Desk, asked: Landed) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let bead = found(&mut shelf, &asked.id)?;
    let evidence = shelf.evidence(&bead)?;
    let target = desk.commit(&asked.commit)?;
    let branch = asked.branch.unwrap_or(evidence.base);
    let gates = Vec::new();
    let landing = Landing { branch, target, source: evidence.head, gates, change: None };
    let id = bead.id;
    let (branch, target) = (landing.branch.clone(), landing.target.clone());
    let bead = desk.write(&mut shelf, move |draft| ops::record_landing(draft, &id, &landing))?;
    if let Some(why) = shelf.evidence(&bead)?.lacks_landing {
        desk.output.note(format_args!("warning: it does not count yet: {}", plain(&why)));
    }
    let target = target.get(..10).unwrap_or(&target);
    answer(desk, &bead, &format!("Recorded for bead {}: landed in {branch} as {target}", bead.id))
}
