//! Documents as the rest of the program sees them: typed, and without clocks.

use godel_model::{BeadStatus, LinkKind, Priority};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::doc::{Document, canonical};

/// A bead as it is now.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bead {
    /// Its name.
    pub id: String,
    /// What kind of work it is; an import may have brought a type that is not ours.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, at length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How far it has come.
    pub status: BeadStatus,
    /// How urgent it is.
    pub priority: Priority,
    /// Its place in a manual order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
    /// Who works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How long it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Where it is worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Commits that belong to it.
    pub commits: Vec<String>,
    /// The bead that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_bead: Option<String>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// Its links to other beads.
    pub links: Vec<Link>,
    /// What people and agents said about it.
    pub comments: Vec<Value>,
    /// Why it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Value>,
    /// How it got into the target branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landed: Option<Value>,
    /// What gates said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Value>,
    /// How long it may take, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
    /// What it may cost, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// How one sees that it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// Not before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer: Option<Timestamp>,
    /// Other names that it had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What others keep here.
    pub metadata: Map<String, Value>,
    /// Who made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Since when its status is what it is.
    #[serde(skip)]
    pub status_since: Timestamp,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

/// That somebody holds a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// When it ends if it is not extended.
    pub until: Timestamp,
    /// A hash of the token that proves who holds it.
    #[serde(skip)]
    pub(crate) key: String,
}

/// A link from a bead to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// How they are linked; an import may have brought a type that is not ours.
    #[serde(rename = "type")]
    pub kind: String,
    /// The other bead, which this one depends on if the type blocks.
    pub target: String,
}

impl Link {
    /// Tells whether it can keep the bead from being ready.
    pub fn blocks(&self) -> bool {
        self.kind.parse::<LinkKind>().is_ok_and(LinkKind::blocks)
    }
}

impl Bead {
    /// Returns the bead in whose branch the work of this one lands, if it is not the target branch.
    pub fn lands_in(&self) -> Option<&str> {
        let link = self.links.iter().find(|link| link.kind == LinkKind::LandsIn.as_str());
        link.map(|link| link.target.as_str())
    }

    /// Reads a bead out of its document.
    pub fn of(document: &Document) -> Self {
        let text = |field: &str| document.text(field).map(str::to_owned);
        let number = |field: &str| document.get(field).and_then(Value::as_u64);
        let texts = |field: &str| {
            let elements = document.elements(field).filter_map(|(_, value)| value.as_str());
            elements.map(str::to_owned).collect::<Vec<_>>()
        };
        let progress = document.progress.as_ref();
        let hold = document.hold.as_ref();
        let links: Vec<Link> = document.elements("links").filter_map(as_link).collect();
        let parent = links.iter().find(|link| link.kind == LinkKind::ParentChild.as_str());
        Self {
            id: document.id().to_owned(),
            kind: text("type").unwrap_or_else(|| "task".to_owned()),
            title: text("title").unwrap_or_default(),
            description: text("description"),
            // Of two who claimed apart one may have let go; the other still holds it.
            status: match progress.and_then(crate::doc::Progress::known) {
                Some(BeadStatus::Open) if hold.is_some_and(|hold| hold.lease.is_some()) => {
                    BeadStatus::InProgress
                }
                Some(status) => status,
                None => BeadStatus::InProgress,
            },
            priority: document
                .text("priority")
                .and_then(|priority| priority.parse().ok())
                .unwrap_or(Priority::Medium),
            rank: text("rank"),
            agent: hold.and_then(|hold| hold.agent.clone()),
            lease: hold.and_then(|hold| as_lease(hold.lease.as_ref()?)),
            worktree: text("worktree"),
            commits: texts("commits"),
            parent_bead: parent.map(|link| link.target.clone()),
            labels: texts("labels"),
            comments: document.said(),
            resolution: progress.and_then(|progress| progress.resolution.clone()),
            landed: document.get("landed").cloned(),
            verdicts: document.elements("verdicts").map(|(_, value)| value.clone()).collect(),
            estimate: number("estimate"),
            budget: number("budget"),
            acceptance: text("acceptance"),
            defer: document.text("defer").and_then(|at| at.parse().ok()),
            aliases: texts("aliases"),
            metadata: document
                .elements("metadata")
                .map(|(key, value)| (key.to_owned(), value.clone()))
                .collect(),
            created_by: text("createdBy"),
            created_at: created(document),
            updated_at: document.touched().time(),
            status_since: progress.map_or_else(|| created(document), |of| of.stamp.time()),
            deleted_at: document.deleted().map(|deletion| deletion.stamp.time()),
            links,
        }
    }

    /// Tells whether there is nothing left to do.
    pub fn is_closed(&self) -> bool {
        self.status == BeadStatus::Done || self.deleted_at.is_some()
    }

    /// Returns who holds it at this moment, and until when.
    pub fn held(&self, now: Timestamp) -> Option<(&str, Timestamp)> {
        let lease = self.lease.as_ref().filter(|lease| lease.until > now)?;
        Some((self.agent.as_deref().unwrap_or("somebody"), lease.until))
    }
}

/// A convoy as it is now, without the state of its beads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Convoy {
    /// Its name for machines.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The beads in it.
    pub beads: Vec<String>,
    /// `active`, `completed` or `archived`.
    pub status: String,
    /// Who made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When its last bead was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

impl Convoy {
    /// Reads a convoy out of its document.
    pub fn of(document: &Document) -> Self {
        let text = |field: &str| document.text(field).map(str::to_owned);
        Self {
            id: document.id().to_owned(),
            name: text("name").unwrap_or_default(),
            description: text("description"),
            beads: document.elements("beads").map(|(bead, _)| bead.to_owned()).collect(),
            status: text("status").unwrap_or_else(|| "active".to_owned()),
            created_by: text("createdBy"),
            created_at: created(document),
            updated_at: document.touched().time(),
            completed_at: document.text("completedAt").and_then(|at| at.parse().ok()),
            deleted_at: document.deleted().map(|deletion| deletion.stamp.time()),
        }
    }
}

/// Something that is worth knowing later.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its name.
    pub id: String,
    /// What to know.
    pub text: String,
    /// Who said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Memory {
    /// Reads a memory out of its document, unless it was forgotten.
    pub fn of(document: &Document) -> Option<Self> {
        let text = |field: &str| document.text(field).map(str::to_owned);
        document.deleted().is_none().then(|| Self {
            id: document.id().to_owned(),
            text: text("text").unwrap_or_default(),
            created_by: text("createdBy"),
            updated_at: document.touched().time(),
        })
    }
}

/// Returns the entity tag of a document: it changes with every change.
pub fn tag(document: &Document) -> String {
    use sha2::{Digest as _, Sha256};
    let hash = Sha256::digest(canonical(&document.to_value()).as_bytes());
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn created(document: &Document) -> Timestamp {
    let written = document.text("createdAt").and_then(|at| at.parse().ok());
    written.unwrap_or_else(|| document.born.time())
}

fn as_link((_, value): (&str, &Value)) -> Option<Link> {
    let text = |member: &str| value[member].as_str().map(str::to_owned);
    Some(Link { kind: text("type")?, target: text("target")? })
}

fn as_lease(value: &Value) -> Option<Lease> {
    let key = value["key"].as_str()?.to_owned();
    Some(Lease { until: value["until"].as_str()?.parse().ok()?, key })
}
