//! `godel bead ready`: what can be begun now.

use godel_args::bead::Ready;
use godel_beads::ops;
use godel_beads::{Reason, Row, Waiting};
use godel_console::{Error, Exit, Result};
use serde_json::json;

use super::claim::{hand_over, seconds};
use super::{list, mention_damage};
use crate::desk::Desk;

/// Lists what is ready, or claims the first of it.
pub(super) fn ready(desk: &Desk, asked: Ready) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    if asked.claim {
        let agent = asked.lease.agent.unwrap_or_else(|| desk.name(&shelf));
        let secs = seconds(asked.lease.lease);
        let claim = desk.write(&mut shelf, move |draft| ops::claim_next(draft, &agent, secs))?;
        return hand_over(desk, &claim);
    }
    if asked.lease.agent.is_some() {
        let hint = "add --claim, or see `godel bead list --agent AGENT`";
        return Err(Error::usage("an agent is for whom something is claimed", hint));
    }
    let limit = asked.limit as usize;
    let mut rows = shelf.ready(limit + 1)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut waiting = if asked.explain { shelf.waiting(limit + 1)? } else { Vec::new() };
    let more_waiting = waiting.len() > limit;
    waiting.truncate(limit);
    mention_damage(desk, &mut shelf)?;
    if desk.output.is_json() {
        let items = list::whole(&shelf, &rows);
        let mut answer = json!({ "items": items, "hasMore": more });
        if asked.explain {
            answer["waiting"] = json!(waiting);
            answer["moreWaiting"] = json!(more_waiting);
        }
        desk.output.value(&answer)?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        let why = if asked.explain { "" } else { "; `godel bead ready --explain` tells why" };
        desk.output.note(format_args!("nothing is ready{why}"));
    } else {
        let line = |row: Row| [row.id, row.priority.to_string(), row.kind, row.title];
        let rows = rows.into_iter().map(line).collect();
        desk.output.listing(["READY", "PRIORITY", "TYPE", "TITLE"], rows)?;
    }
    if !waiting.is_empty() {
        desk.output.line("")?;
        explain(desk, &waiting)?;
    }
    if more || more_waiting {
        desk.output.note("there is more: raise --limit");
    }
    Ok(Exit::Done)
}

fn explain(desk: &Desk, waiting: &[Waiting]) -> Result<()> {
    let rows = waiting.iter().flat_map(|one| {
        let reasons = one.reasons.iter().enumerate();
        reasons.map(|(at, reason)| {
            let (id, title) = (one.row.id.clone(), one.row.title.clone());
            let (id, title) = if at == 0 { (id, title) } else { <_>::default() };
            [id, why(reason), title]
        })
    });
    desk.output.listing(["WAITING", "WHY", "TITLE"], rows.collect())
}

/// Tells in a few words what keeps a bead.
pub(super) fn why(reason: &Reason) -> String {
    match reason {
        Reason::Blocked { link, by, .. } if link == "parent-child" => {
            format!("part of {by}, which is blocked")
        }
        Reason::Blocked { link, by, .. } if link == "blocks" => format!("blocked by {by}"),
        Reason::Blocked { link, by, .. } => format!("blocked by {by} ({link})"),
        Reason::Held { by, until } => format!("held by {by} until {until:.0}"),
        Reason::Deferred { until } => format!("put off until {until:.0}"),
        Reason::Circle { path } => format!("waits for itself: {}", path.join(" -> ")),
    }
}
