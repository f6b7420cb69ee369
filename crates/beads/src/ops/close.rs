//! Closing beads and opening them again.

use godel_model::{BeadStatus, Resolution};
use serde_json::json;

use super::claim::check_token;
use super::land::{missing, store_move};
use super::text;
use crate::evidence::Evidence;
use crate::shelf::Draft;
use crate::view::Bead;
use crate::{Error, Result};

/// A closing that somebody asks for.
#[derive(Debug, Clone)]
pub struct Close {
    /// Why there is nothing left to do.
    pub resolution: Resolution,
    /// The sentence that says so.
    pub reason: Option<String>,
    /// The token of the claim, if there is one.
    pub token: Option<String>,
    /// Whether it should be closed though its code did not land, or another holds it.
    pub force: bool,
    /// What git says.
    pub evidence: Evidence,
}

/// Closes a bead.
///
/// # Errors
/// If it has code that did not land, or the sentence is missing.
pub fn close(draft: &mut Draft<'_>, name: &str, wanted: &Close) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    check_token(&bead, wanted.token.as_deref(), wanted.force, draft.now())?;
    if bead.status == BeadStatus::Done {
        return Ok(bead);
    }
    let code = wanted.resolution == Resolution::Done && wanted.evidence.has_code;
    let lacks = if code { missing(&bead, BeadStatus::Done, &wanted.evidence) } else { Vec::new() };
    if !lacks.is_empty() && !wanted.force {
        return Err(Error::NotEarned { bead: bead.id, to: BeadStatus::Done, missing: lacks });
    }
    let reason = match wanted.reason.as_deref() {
        Some(reason) => Some(text::sentence("a reason", reason)?),
        // What landed speaks for itself.
        None if code && lacks.is_empty() => None,
        None => {
            return text::refuse(
                &format!("say in a sentence why {} is closed", bead.id),
                "add --reason \"...\"",
            );
        }
    };
    let by = draft.by().to_owned();
    let mut resolution = json!({ "kind": wanted.resolution.as_str(), "by": by });
    if let Some(reason) = &reason {
        resolution["reason"] = reason.as_str().into();
    }
    if !lacks.is_empty() {
        resolution["forced"] = true.into();
        resolution["missing"] = json!(lacks);
    }
    let mut edit = draft.edit(&mut document);
    for commit in &wanted.evidence.commits {
        edit.add("commits", commit, commit.as_str().into());
    }
    if let Some(landing) = wanted.evidence.landing.as_ref().filter(|_| code) {
        edit.set("landed", json!(landing));
    }
    edit.progress(BeadStatus::Done, Some(resolution));
    if bead.lease.is_some() {
        edit.keep(bead.agent.clone(), None);
    }
    let line = format!("{} closed as {}: {}", bead.id, wanted.resolution, bead.title);
    store_move(draft, document, line)
}

/// Opens a bead that was done.
///
/// # Errors
/// If there is no such bead, or it is not done.
pub fn reopen(draft: &mut Draft<'_>, name: &str, reason: &str) -> Result<Bead> {
    reopen_to(draft, name, reason, BeadStatus::Open)
}

pub(super) fn reopen_to(
    draft: &mut Draft<'_>,
    name: &str,
    reason: &str,
    to: BeadStatus,
) -> Result<Bead> {
    let reason = text::sentence("a reason", reason)?;
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    if bead.status != BeadStatus::Done {
        return text::refuse(
            &format!("{} is {}, not done", bead.id, bead.status),
            "only what is done can be opened again",
        );
    }
    let by = draft.by().to_owned();
    let mut edit = draft.edit(&mut document);
    edit.progress(to, None);
    // What comes now has to land anew.
    edit.clear("landed");
    // Both clones that opened it again keep their reason.
    edit.comment(&by, &format!("opened again: {reason}"));
    if to == BeadStatus::Open && bead.agent.is_some() {
        edit.keep(None, None);
    }
    let line = format!("{} reopened: {reason}", bead.id);
    store_move(draft, document, line)
}
