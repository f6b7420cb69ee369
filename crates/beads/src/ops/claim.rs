//! Who works on a bead: assigned by a person, or claimed with a lease.

use godel_model::BeadStatus;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::text;
use crate::doc::Document;
use crate::index::Reason;
use crate::shelf::Draft;
use crate::view::Bead;
use crate::{Error, Result};

/// How long a claim lasts if nothing else is said.
pub const DEFAULT_LEASE_SECS: u64 = 30 * 60;
const LEASE_MAX_SECS: u64 = 7 * 24 * 3600;

/// A claim that succeeded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// The bead.
    pub bead: Bead,
    /// What proves the claim; it is not kept anywhere.
    pub token: String,
    /// When it ends if it is not extended.
    pub until: Timestamp,
}

/// Gives a bead to an agent; with `start` its work begins.
///
/// # Errors
/// If there is no such bead, it is done, or another holds it.
pub fn assign(draft: &mut Draft<'_>, name: &str, agent: &str, start: bool) -> Result<Bead> {
    let agent = text::check_agent(agent)?;
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    refuse_if_done(&bead)?;
    refuse_if_held(&bead, draft.now())?;
    let mut edit = draft.edit(&mut document);
    edit.take(Some(agent.clone()), None);
    let mut line = format!("{} assigned to {agent}", bead.id);
    if start && bead.status == BeadStatus::Open {
        edit.progress(BeadStatus::InProgress, None);
        line.push_str(", in progress");
    }
    let bead = Bead::of(&document);
    draft.put(document, "bead:assigned", line)?;
    Ok(bead)
}

/// Claims a bead that is ready.
///
/// # Errors
/// If there is no such bead, somebody holds it, or something holds it up.
pub fn claim(draft: &mut Draft<'_>, name: &str, agent: &str, secs: u64) -> Result<Claim> {
    let agent = text::check_agent(agent)?;
    let lease = lease_secs(secs)?;
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    refuse_if_done(&bead)?;
    refuse_if_held(&bead, draft.now())?;
    // An assignment is a promise to one agent; a lease that ended is not.
    let promised = bead.lease.is_none();
    if let Some(other) = bead.agent.as_ref().filter(|other| promised && **other != agent) {
        let why = format!("it is assigned to {other}");
        return Err(Error::NotReady { bead: bead.id, why });
    }
    let keeps = draft.index()?.reasons(&bead.id, draft.now())?;
    if let Some(why) = keeps.iter().find_map(why) {
        return Err(Error::NotReady { bead: bead.id, why });
    }
    take(draft, &mut document, &agent, lease)
}

/// Claims what is first in the ready queue.
///
/// # Errors
/// If nothing is ready.
pub fn claim_next(draft: &mut Draft<'_>, agent: &str, secs: u64) -> Result<Claim> {
    let agent = text::check_agent(agent)?;
    let lease = lease_secs(secs)?;
    let next = draft.index()?.ready_for(draft.now(), &agent)?.ok_or(Error::NothingReady)?;
    let mut document = draft.bead(&next.id)?;
    take(draft, &mut document, &agent, lease)
}

fn take(
    draft: &mut Draft<'_>,
    document: &mut Document,
    agent: &str,
    lease: SignedDuration,
) -> Result<Claim> {
    let token = draft.mint().secret();
    let until = draft.now() + lease;
    let mut edit = draft.edit(document);
    edit.take(Some(agent.to_owned()), Some(as_lease(&key_of(&token), until)));
    if Bead::of(document).status == BeadStatus::Open {
        let mut edit = draft.edit(document);
        edit.progress(BeadStatus::InProgress, None);
    }
    let bead = Bead::of(document);
    let line = format!("{} claimed by {agent} until {until:.0}", bead.id);
    draft.put(document.clone(), "bead:claimed", line)?;
    Ok(Claim { bead, token, until })
}

/// Extends a claim.
///
/// # Errors
/// If the token is not that of the claim that holds the bead.
pub fn heartbeat(draft: &mut Draft<'_>, name: &str, token: &str, secs: u64) -> Result<Bead> {
    let lease = lease_secs(secs)?;
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    check_token(&bead, Some(token), false, draft.now())?;
    let until = draft.now() + lease;
    let lease = as_lease(&key_of(token), until);
    draft.edit(&mut document).keep(bead.agent, Some(lease));
    let line = format!("{} held until {until:.0}", bead.id);
    let bead = Bead::of(&document);
    draft.put(document, "bead:extended", line)?;
    Ok(bead)
}

/// Gives a bead back: it is open again, and nobody's.
///
/// # Errors
/// If another holds it and `force` is not set.
pub fn release(
    draft: &mut Draft<'_>,
    name: &str,
    token: Option<&str>,
    force: bool,
) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    check_token(&bead, token, force, draft.now())?;
    if bead.agent.is_none() && bead.lease.is_none() {
        return Ok(bead);
    }
    let mut edit = draft.edit(&mut document);
    edit.keep(None, None);
    if bead.status == BeadStatus::InProgress {
        edit.progress(BeadStatus::Open, None);
    }
    let line = format!("{} released by {}", bead.id, draft.by());
    let bead = Bead::of(&document);
    draft.put(document, "bead:released", line)?;
    Ok(bead)
}

/// Tells whether a token proves the claim that holds a bead at this moment.
pub(crate) fn holds(bead: &Bead, token: &str, now: Timestamp) -> bool {
    bead.held(now).is_some() && check_token(bead, Some(token), false, now).is_ok()
}

/// Refuses whoever does not hold a bead that somebody holds.
pub(super) fn check_token(
    bead: &Bead,
    token: Option<&str>,
    force: bool,
    now: Timestamp,
) -> Result<()> {
    let over = |why: String| Err(Error::LeaseLost { bead: bead.id.clone(), why });
    match (token, &bead.lease, bead.held(now)) {
        (Some(token), Some(lease), held) => {
            use subtle::ConstantTimeEq as _;
            let same: bool = key_of(token).as_bytes().ct_eq(lease.key.as_bytes()).into();
            match held {
                Some(_) if same => Ok(()),
                Some((holder, until)) => over(format!("{holder} holds it until {until:.0}")),
                None => over(format!("it ended at {:.0}", lease.until)),
            }
        }
        (Some(_), None, _) => over("nobody holds it".to_owned()),
        (None, _, Some((holder, until))) if !force => {
            Err(Error::Held { bead: bead.id.clone(), holder: holder.to_owned(), until })
        }
        (None, _, _) => Ok(()),
    }
}

fn refuse_if_held(bead: &Bead, now: Timestamp) -> Result<()> {
    check_token(bead, None, false, now)
}

fn refuse_if_done(bead: &Bead) -> Result<()> {
    if bead.status < BeadStatus::Review {
        return Ok(());
    }
    let why = format!("it is {}", if bead.is_closed() { "done" } else { "in review" });
    Err(Error::NotReady { bead: bead.id.clone(), why })
}

fn why(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Blocked { link, by, title } if link == "parent-child" => {
            Some(format!("it is a part of {by} ({title}), which is blocked"))
        }
        Reason::Blocked { by, title, .. } => Some(format!("it is blocked by {by} ({title})")),
        Reason::Deferred { until } => Some(format!("it is deferred until {until:.0}")),
        Reason::Circle { path } => Some(format!("it waits for itself: {}", path.join(" -> "))),
        Reason::Held { .. } => None,
    }
}

fn lease_secs(secs: u64) -> Result<SignedDuration> {
    if secs == 0 || secs > LEASE_MAX_SECS {
        return text::refuse("a lease must last from 1 second to 7 days", "extend it in time");
    }
    Ok(SignedDuration::from_secs(secs.try_into().unwrap_or(i64::MAX)))
}

fn as_lease(key: &str, until: Timestamp) -> Value {
    json!({ "key": key, "until": until.to_string() })
}

fn key_of(token: &str) -> String {
    let hash = Sha256::digest(token.as_bytes());
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
