//! `godel bead assign`, `claim`, `heartbeat` and `release`: who works on what.

use godel_args::bead::{Assign, Claim as AskedClaim, Held, Release};
use godel_beads::ops::{self, Claim};
use godel_beads::{Bead, Shelf};
use godel_console::output::plain;
use godel_console::{Error, Exit, Result};
use jiff::SignedDuration;

use super::{answer, found};
use crate::desk::Desk;

const TOKEN: &str = "GODEL_LEASE_TOKEN";

/// Gives a bead to an agent.
pub(super) fn assign(desk: &Desk, asked: Assign) -> Result<Exit> {
    let Assign { id, agent, start } = asked;
    let mut shelf = desk.shelf()?;
    let bead = desk.write(&mut shelf, move |draft| ops::assign(draft, &id, &agent, start))?;
    let agent = bead.agent.as_deref().unwrap_or("nobody");
    answer(desk, &bead, &format!("{} is assigned to {agent}, {}", bead.id, bead.status))
}

/// Claims a bead.
pub(super) fn claim(desk: &Desk, asked: AskedClaim) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let agent = asked.lease.agent.unwrap_or_else(|| desk.name(&shelf));
    let (id, secs) = (asked.id, seconds(asked.lease.lease));
    let claim = desk.write(&mut shelf, move |draft| ops::claim(draft, &id, &agent, secs))?;
    hand_over(desk, &claim)
}

/// Tells of a claim; this is the only time that its token is seen.
pub(super) fn hand_over(desk: &Desk, claim: &Claim) -> Result<Exit> {
    if desk.output.is_json() {
        desk.output.value(claim)?;
        return Ok(Exit::Done);
    }
    let Claim { bead, token, until } = claim;
    let agent = bead.agent.as_deref().unwrap_or("somebody");
    desk.output.line(plain(&format!(
        "Claimed bead {} for {agent} until {until:.0}: {}",
        bead.id, bead.title
    )))?;
    desk.output.line(format_args!("  export {TOKEN}={token}"))?;
    desk.output.remark("keep the token: it extends the claim, finishes the bead or gives it back");
    Ok(Exit::Done)
}

/// Extends a claim.
pub(super) fn heartbeat(desk: &Desk, held: Held, lease: SignedDuration) -> Result<Exit> {
    let Some(token) = held.token.or_else(|| desk.variable(TOKEN)) else {
        let hint = format!("give --token, or set {TOKEN}; `godel bead claim` printed it");
        return Err(Error::usage("only the token of a claim can extend it", hint));
    };
    let (id, secs) = (held.id, seconds(lease));
    let mut shelf = desk.shelf()?;
    let bead = desk.write(&mut shelf, move |draft| ops::heartbeat(draft, &id, &token, secs))?;
    let until = bead.lease.as_ref().map(|lease| format!("{:.0}", lease.until));
    answer(desk, &bead, &format!("{} is held until {}", bead.id, until.unwrap_or_default()))
}

/// Gives a bead back.
pub(super) fn release(desk: &Desk, asked: Release) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let (bead, token) = holder(desk, &mut shelf, asked.held, asked.force)?;
    let (id, force) = (bead.id, asked.force);
    let bead =
        desk.write(&mut shelf, move |draft| ops::release(draft, &id, token.as_deref(), force))?;
    answer(desk, &bead, &format!("{} is {}, and nobody's", bead.id, bead.status))
}

/// Returns a bead and the token that counts for it.
///
/// A token in the environment belongs to one claim; it must not keep its holder from what is free,
/// nor stand in the way of force.
pub(super) fn holder(
    desk: &Desk,
    shelf: &mut Shelf,
    held: Held,
    force: bool,
) -> Result<(Bead, Option<String>)> {
    let bead = found(shelf, &held.id)?;
    let silent = || desk.variable(TOKEN).filter(|_| bead.lease.is_some() && !force);
    let token = held.token.or_else(silent);
    Ok((bead, token))
}

/// Returns a span in whole seconds.
pub(super) fn seconds(span: SignedDuration) -> u64 {
    u64::try_from(span.as_secs()).unwrap_or_default()
}
