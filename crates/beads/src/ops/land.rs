//! Moving a bead through its life: a status is earned, not claimed.

use godel_model::{BeadStatus, Resolution};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::claim::check_token;
use super::convoy::settle_convoys;
use super::text;
use crate::doc::Document;
use crate::evidence::Evidence;
use crate::shelf::Draft;
use crate::view::Bead;
use crate::{Error, Result};

/// What a gate said about a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The gate, such as `tests`.
    pub gate: String,
    /// Whether the commit passed.
    pub passed: bool,
    /// The commit, by its whole name.
    pub commit: String,
    /// What it said.
    pub detail: Option<String>,
}

/// How a bead's work got into a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Landing {
    /// The branch it is in now.
    pub branch: String,
    /// The commit in that branch.
    pub target: String,
    /// The last commit of the bead's own branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What the gates said about the commit in that branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Passed>,
    /// How large it was, if that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Changed>,
}

/// How large a change was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// How many files differ.
    pub files: usize,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
}

/// What a gate said about what landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// The gate.
    pub gate: String,
    /// Whether it passed; one that need not pass may not have.
    pub passed: bool,
}

/// A move that somebody asks for.
#[derive(Debug, Clone)]
pub struct Advance {
    /// Where to.
    pub to: BeadStatus,
    /// The token of the claim, if there is one.
    pub token: Option<String>,
    /// Why it should move though it is not earned.
    pub force: Option<String>,
    /// What git says.
    pub evidence: Evidence,
}

/// Moves a bead.
///
/// # Errors
/// If it has not earned the status; says what is missing.
pub fn advance(draft: &mut Draft<'_>, name: &str, wanted: &Advance) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    check_token(&bead, wanted.token.as_deref(), wanted.force.is_some(), draft.now())?;
    if bead.status == wanted.to {
        return Ok(bead);
    }
    if bead.status == BeadStatus::Done {
        let reason = wanted.force.as_deref().unwrap_or("moved back");
        return super::close::reopen_to(draft, &bead.id, reason, wanted.to);
    }
    let missing = missing(&bead, wanted.to, &wanted.evidence);
    let force = wanted.force.as_deref().map(|why| text::sentence("a reason", why)).transpose()?;
    if !missing.is_empty() && force.is_none() {
        return Err(Error::NotEarned { bead: bead.id, to: wanted.to, missing });
    }
    let by = draft.by().to_owned();
    let mut edit = draft.edit(&mut document);
    for commit in &wanted.evidence.commits {
        edit.add("commits", commit, commit.as_str().into());
    }
    if wanted.to == BeadStatus::InProgress && bead.agent.is_none() {
        edit.take(Some(by.clone()), None);
    }
    if wanted.to == BeadStatus::Done
        && let Some(landing) = &wanted.evidence.landing
    {
        edit.set("landed", json!(landing));
    }
    let resolution = (wanted.to == BeadStatus::Done).then(|| done_by(&by, force.as_deref()));
    edit.progress(wanted.to, resolution);
    if wanted.to != BeadStatus::InProgress && bead.lease.is_some() {
        edit.keep(bead.agent.clone().filter(|_| wanted.to != BeadStatus::Open), None);
    }
    if let Some(force) = force.filter(|_| !missing.is_empty()) {
        let text =
            format!("moved to {} by force: {force} (missing: {})", wanted.to, missing.join("; "));
        draft.edit(&mut document).comment(&by, &text);
    }
    let line = format!("{} moved: {} -> {}", bead.id, bead.status, wanted.to);
    store_move(draft, document, line)
}

fn done_by(by: &str, force: Option<&str>) -> Value {
    let mut resolution = json!({ "kind": Resolution::Done.as_str(), "by": by });
    if let Some(force) = force {
        resolution["reason"] = force.into();
        resolution["forced"] = true.into();
    }
    resolution
}

/// Stores a bead whose status changed, and what follows for its convoys.
pub(super) fn store_move(draft: &mut Draft<'_>, document: Document, line: String) -> Result<Bead> {
    let bead = Bead::of(&document);
    draft.put(document, "bead:moved", line)?;
    settle_convoys(draft, &bead.id)?;
    Ok(bead)
}

/// Says what a bead lacks for a status.
pub(super) fn missing(bead: &Bead, to: BeadStatus, evidence: &Evidence) -> Vec<String> {
    match to {
        BeadStatus::Open | BeadStatus::InProgress => Vec::new(),
        BeadStatus::Review => lacks_for_review(bead, evidence),
        BeadStatus::Done if evidence.has_code => evidence.lacks_landing.iter().cloned().collect(),
        BeadStatus::Done => vec![format!(
            "it has no code to land, so it is closed with a resolution and a sentence: godel bead \
             close {} --resolution done --reason \"...\"",
            bead.id
        )],
    }
}

fn lacks_for_review(bead: &Bead, evidence: &Evidence) -> Vec<String> {
    let mut missing = Vec::new();
    let Some(head) = &evidence.head else {
        return vec![format!(
            "there is no branch bead/{} with its work (godel worktree create {} makes one)",
            bead.id, bead.id
        )];
    };
    if evidence.ahead.is_empty() {
        missing.push(format!("branch bead/{} has no commit that {} lacks", bead.id, evidence.base));
    }
    if let Some(dirty) = &evidence.dirty {
        missing.push(format!("its work tree {dirty} has changes that are not committed"));
    }
    for verdict in &bead.verdicts {
        let gate = verdict["gate"].as_str().unwrap_or("a gate");
        if verdict["commit"].as_str() == Some(head) && verdict["passed"] == Value::Bool(false) {
            missing.push(format!("gate {gate} failed on {}", short(head)));
        }
    }
    for gate in &evidence.gates {
        let passed = bead.verdicts.iter().any(|verdict| {
            verdict["gate"].as_str() == Some(gate)
                && verdict["commit"].as_str() == Some(head)
                && verdict["passed"] == Value::Bool(true)
        });
        if !passed {
            missing.push(format!("gate {gate} has not passed on {}", short(head)));
        }
    }
    missing
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// Records what a gate said.
///
/// # Errors
/// If there is no such bead.
pub fn record_verdict(draft: &mut Draft<'_>, name: &str, verdict: &Verdict) -> Result<Bead> {
    let gate = text::word("the name of a gate", &verdict.gate)?;
    let mut document = draft.bead(name)?;
    let (by, at) = (draft.by().to_owned(), draft.now().to_string());
    let mut value = json!({
        "gate": gate, "passed": verdict.passed, "commit": verdict.commit, "by": by, "at": at,
    });
    if let Some(detail) = &verdict.detail {
        value["detail"] = text::body("a detail", detail)?.into();
    }
    draft.edit(&mut document).add("verdicts", &gate, value);
    let word = if verdict.passed { "passed" } else { "failed" };
    let line = format!("{} gate {gate} {word} on {}", document.id(), short(&verdict.commit));
    let bead = Bead::of(&document);
    draft.put(document, "bead:judged", line)?;
    Ok(bead)
}

/// Records how a bead's work got into a branch.
///
/// # Errors
/// If there is no such bead.
pub fn record_landing(draft: &mut Draft<'_>, name: &str, landing: &Landing) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    draft.edit(&mut document).set("landed", json!(landing));
    let line =
        format!("{} landed in {} as {}", document.id(), landing.branch, short(&landing.target));
    let bead = Bead::of(&document);
    draft.put(document, "bead:landed", line)?;
    Ok(bead)
}

/// Ends a bead whose work has landed: what landed is recorded, and that is what done means.
///
/// # Errors
/// If there is no such bead.
pub fn finish(draft: &mut Draft<'_>, name: &str, landing: &Landing) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let bead = Bead::of(&document);
    let landed = json!(landing);
    if bead.status == BeadStatus::Done && bead.landed.as_ref() == Some(&landed) {
        return Ok(bead);
    }
    let by = draft.by().to_owned();
    let mut edit = draft.edit(&mut document);
    edit.set("landed", landed);
    for commit in landing.source.iter().chain([&landing.target]) {
        edit.add("commits", commit, commit.as_str().into());
    }
    if bead.status != BeadStatus::Done {
        edit.progress(BeadStatus::Done, Some(done_by(&by, None)));
    }
    if bead.lease.is_some() {
        edit.keep(bead.agent.clone(), None);
    }
    let line = format!("{} landed in {} as {}", bead.id, landing.branch, short(&landing.target));
    store_move(draft, document, line)
}

/// Records where a bead is worked on, or that it is not any more.
///
/// # Errors
/// If there is no such bead.
pub fn set_worktree(draft: &mut Draft<'_>, name: &str, path: Option<&str>) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    if document.text("worktree") == path {
        return Ok(Bead::of(&document));
    }
    let mut edit = draft.edit(&mut document);
    let what = match path {
        Some(path) => {
            edit.set("worktree", path.into());
            "has a work tree"
        }
        None => {
            edit.clear("worktree");
            "has no work tree any more"
        }
    };
    let line = format!("{} {what}", document.id());
    let bead = Bead::of(&document);
    draft.put(document, "bead:updated", line)?;
    Ok(bead)
}
