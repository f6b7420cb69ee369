//! What a line of bd means in our words.

use std::collections::{BTreeMap, BTreeSet};

use godel_model::{BeadId, BeadStatus, Priority, Resolution};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::doc::REVIVED;
use crate::view::Bead;

/// How many characters an id has that follows from the id of another system: nobody else has it.
const LETTERS: usize = 8;

/// Further away than anybody plans.
const SOME_DAY: &str = "9999-01-01T00:00:00Z";

/// The part of a bead that bd knows of.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Mapped {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) acceptance: Option<String>,
    pub(super) kind: String,
    pub(super) priority: Option<Priority>,
    pub(super) status: Option<BeadStatus>,
    pub(super) reason: Option<String>,
    pub(super) deleted: bool,
    pub(super) agent: Option<String>,
    pub(super) estimate: Option<u64>,
    pub(super) defer: Option<String>,
    pub(super) labels: BTreeSet<String>,
    /// Type and target, as ids of ours.
    pub(super) links: BTreeSet<(String, String)>,
    /// Comments by id of ours.
    pub(super) comments: BTreeMap<String, Value>,
}

/// Returns the id that a bead of another system has here.
pub(super) fn our_id(theirs: &str) -> String {
    if theirs.parse::<BeadId>().is_ok() {
        return theirs.to_owned();
    }
    let mut seed = [0; 16];
    seed.copy_from_slice(&Sha256::digest(format!("bd {theirs}").as_bytes())[..16]);
    BeadId::derived(&seed, LETTERS).to_string()
}

impl Mapped {
    /// Reads a line of bd.
    pub(super) fn of_line(line: &Map<String, Value>) -> Self {
        let text =
            |field: &str| line.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let owned = |field: &str| text(field).map(str::to_owned);
        let list = |field: &str| line.get(field).and_then(Value::as_array).into_iter().flatten();
        let status = text("status").unwrap_or("open");
        let id = text("id").unwrap_or_default();
        let later = (status == "deferred").then(|| SOME_DAY.to_owned());
        let links = list("dependencies").filter_map(|link| {
            let kind = link["type"].as_str().unwrap_or("blocks");
            Some((kind.to_owned(), our_id(link["depends_on_id"].as_str()?)))
        });
        let comments = list("comments").enumerate().map(|(at, comment)| {
            let number = comment["id"].as_i64().map_or(at.to_string(), |id| id.to_string());
            let key = format!("bd-{id}-{number}");
            let (by, said) = (&comment["author"], &comment["text"]);
            let comment = json!({ "id": key, "at": comment["created_at"], "by": by, "text": said });
            (key, comment)
        });
        Self {
            title: text("title").unwrap_or_default().to_owned(),
            description: owned("description"),
            acceptance: owned("acceptance_criteria"),
            kind: text("issue_type").unwrap_or("task").to_owned(),
            priority: line.get("priority").and_then(Value::as_u64).map(priority),
            status: Some(match status {
                "in_progress" | "hooked" => BeadStatus::InProgress,
                "closed" => BeadStatus::Done,
                _ => BeadStatus::Open,
            }),
            reason: owned("close_reason").filter(|_| status == "closed"),
            deleted: status == "tombstone",
            agent: owned("assignee"),
            estimate: line.get("estimated_minutes").and_then(Value::as_u64),
            defer: owned("defer_until").or(later),
            labels: list("labels").filter_map(|label| Some(label.as_str()?.to_owned())).collect(),
            links: links.collect(),
            comments: comments.collect(),
        }
    }

    /// Reads a bead.
    pub(super) fn of_bead(bead: &Bead, defer: Option<&str>) -> Self {
        let comments = bead.comments.iter().filter_map(|comment| {
            // What follows from the rest is no comment for others.
            let id = comment["id"].as_str().filter(|id| !id.starts_with(REVIVED))?;
            Some((id.to_owned(), comment.clone()))
        });
        let reason = bead.resolution.as_ref().and_then(|resolution| resolution["reason"].as_str());
        Self {
            title: bead.title.clone(),
            description: bead.description.clone(),
            acceptance: bead.acceptance.clone(),
            kind: bead.kind.clone(),
            priority: Some(bead.priority),
            status: Some(bead.status),
            reason: reason.filter(|_| bead.status == BeadStatus::Done).map(str::to_owned),
            deleted: bead.deleted_at.is_some(),
            agent: bead.agent.clone(),
            estimate: bead.estimate,
            defer: defer.map(str::to_owned),
            labels: bead.labels.iter().cloned().collect(),
            links: bead.links.iter().map(|link| (link.kind.clone(), link.target.clone())).collect(),
            comments: comments.collect(),
        }
    }

    /// Returns why a bead is done, as it is stored.
    pub(super) fn resolution(&self) -> Value {
        let mut resolution = json!({ "kind": Resolution::Done.as_str(), "by": "bd" });
        if let Some(reason) = &self.reason {
            resolution["reason"] = reason.as_str().into();
        }
        resolution
    }
}

fn priority(number: u64) -> Priority {
    match number {
        0 => Priority::Critical,
        1 => Priority::High,
        2 => Priority::Medium,
        _ => Priority::Low,
    }
}
