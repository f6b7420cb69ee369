//! Making beads and changing what they say.

use godel_model::{BeadKind, LinkKind, Priority};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::convoy::settle_convoys;
use super::link::put_link;
use super::text;
use crate::doc::{Class, Document, Edit};
use crate::shelf::Draft;
use crate::view::{Bead, tag};
use crate::{Error, Result};

const LABELS_MAX: usize = 100;
const METADATA_MAX_BYTES: usize = 64 * 1024;

/// A bead that is to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewBead {
    /// What is to be done, in a line.
    pub title: String,
    /// What kind of work it is.
    pub kind: Option<BeadKind>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// What is to be done, at length.
    pub description: Option<String>,
    /// How one sees that it is done.
    pub acceptance: Option<String>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// The bead that it is a part of.
    pub parent: Option<String>,
    /// Beads that must be closed first.
    pub blocked_by: Vec<String>,
    /// Beads that wait for this one.
    pub blocks: Vec<String>,
    /// How long it may take, in minutes.
    pub estimate: Option<u64>,
    /// What it may cost, in millionths of a dollar.
    pub budget: Option<u64>,
    /// What others keep here.
    pub metadata: Map<String, Value>,
    /// An id that was minted before, so that making it again makes no second one.
    pub id: Option<String>,
}

/// What is to be changed of a bead; `None` leaves it, an empty text removes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// The new title.
    pub title: Option<String>,
    /// The new type.
    pub kind: Option<BeadKind>,
    /// The new priority.
    pub priority: Option<Priority>,
    /// The new description.
    pub description: Option<String>,
    /// The new way to see that it is done.
    pub acceptance: Option<String>,
    /// The new place in the manual order.
    pub rank: Option<String>,
    /// The new estimate in minutes; 0 removes it.
    pub estimate: Option<u64>,
    /// The new budget in millionths of a dollar; 0 removes it.
    pub budget: Option<u64>,
    /// All labels it should have.
    pub labels: Option<Vec<String>>,
    /// Members to set, or to remove where `null`.
    pub metadata: Map<String, Value>,
    /// Whether members that are not named are removed.
    pub metadata_whole: bool,
    /// The bead it should be a part of; an empty text means of none.
    pub parent: Option<String>,
    /// Until when it is put off; `Some(None)` takes that back.
    pub defer: Option<Option<Timestamp>>,
    /// Whether it has no worktree any more.
    pub no_worktree: bool,
    /// The entity tag that the document must have.
    pub if_match: Option<Vec<String>>,
}

/// Makes a bead.
///
/// # Errors
/// If a text does not fit, a bead that is named is not there, or links would close a circle.
pub fn create(draft: &mut Draft<'_>, new: &NewBead) -> Result<Bead> {
    let title = text::title(&new.title)?;
    if let Some(id) = &new.id
        && let Some(made) = draft.find(Class::Bead, id)?
    {
        return Ok(Bead::of(&made));
    }
    let id = match &new.id {
        Some(id) => id.parse()?,
        None => draft.bead_id()?,
    };
    let birth = draft.birth();
    let mut document = draft.fresh(Class::Bead, id.as_str(), &birth);
    let by = draft.by().to_owned();
    let mut edit = document.complete();
    edit.set("title", title.as_str().into());
    edit.set("type", new.kind.unwrap_or(BeadKind::Task).as_str().into());
    edit.set("priority", new.priority.unwrap_or(Priority::Medium).as_str().into());
    edit.set("createdBy", by.into());
    for (field, value) in [("description", &new.description), ("acceptance", &new.acceptance)] {
        if let Some(value) = value.as_deref().filter(|value| !value.trim().is_empty()) {
            edit.set(field, text::body(field, value)?.into());
        }
    }
    for (field, value) in [("estimate", new.estimate), ("budget", new.budget)] {
        if let Some(value) = value.filter(|value| *value > 0) {
            edit.set(field, value.into());
        }
    }
    for label in checked_labels(&new.labels)? {
        edit.add("labels", &label, label.as_str().into());
    }
    check_metadata(&new.metadata)?;
    for (key, value) in new.metadata.iter().filter(|(_, value)| !value.is_null()) {
        edit.add("metadata", key, value.clone());
    }
    let line = format!("{id} created: {title}");
    draft.put(document, "bead:created", line)?;
    link_new(draft, id.as_str(), new)?;
    let made = draft.bead(id.as_str())?;
    Ok(Bead::of(&made))
}

/// Links a new bead; the links are as old as the bead.
fn link_new(draft: &mut Draft<'_>, id: &str, new: &NewBead) -> Result<()> {
    let parent = new.parent.iter().map(|parent| (LinkKind::ParentChild, parent));
    let needs = new.blocked_by.iter().map(|other| (LinkKind::Blocks, other));
    for (kind, other) in parent.chain(needs) {
        let target = draft.bead(other)?;
        let mut document = draft.bead(id)?;
        put_link(draft, &mut document, kind, target.id(), true)?;
        draft.put_silently(document)?;
    }
    for other in &new.blocks {
        let mut document = draft.bead(other)?;
        if put_link(draft, &mut document, LinkKind::Blocks, id, false)? {
            let line = format!("{} blocked by {id}", document.id());
            draft.put(document, "bead:linked", line)?;
        }
    }
    Ok(())
}

/// Changes what a bead says.
///
/// # Errors
/// If a text does not fit, there is no such bead, or it is not as the caller believes.
pub fn update(draft: &mut Draft<'_>, name: &str, changes: &Changes) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    check_tag(&document, changes.if_match.as_deref())?;
    let before = document.clone();
    let mut edit = draft.edit(&mut document);
    if let Some(title) = &changes.title {
        edit.set("title", text::title(title)?.into());
    }
    if let Some(kind) = changes.kind {
        edit.set("type", kind.as_str().into());
    }
    if let Some(priority) = changes.priority {
        edit.set("priority", priority.as_str().into());
    }
    let bodies = [
        ("description", &changes.description),
        ("acceptance", &changes.acceptance),
        ("rank", &changes.rank),
    ];
    for (field, value) in bodies {
        match value.as_deref() {
            Some(value) if value.trim().is_empty() => edit.clear(field),
            Some(value) => edit.set(field, text::body(field, value)?.into()),
            None => {}
        }
    }
    for (field, value) in [("estimate", changes.estimate), ("budget", changes.budget)] {
        match value {
            Some(0) => edit.clear(field),
            Some(value) => edit.set(field, value.into()),
            None => {}
        }
    }
    if let Some(until) = changes.defer {
        put_off(&mut edit, until);
    }
    if changes.no_worktree {
        edit.clear("worktree");
    }
    check_metadata(&changes.metadata)?;
    if changes.metadata_whole {
        let known = Bead::of(&before).metadata;
        for key in known.keys().filter(|key| !changes.metadata.contains_key(*key)) {
            edit.remove("metadata", key);
        }
    }
    for (key, value) in &changes.metadata {
        if value.is_null() {
            edit.remove("metadata", key);
        } else {
            edit.add("metadata", key, value.clone());
        }
    }
    if let Some(labels) = &changes.labels {
        let wanted = checked_labels(labels)?;
        let known: Vec<String> = Bead::of(&before).labels;
        for gone in known.iter().filter(|known| !wanted.contains(known)) {
            edit.remove("labels", gone);
        }
        wanted.iter().for_each(|label| edit.add("labels", label, label.as_str().into()));
    }
    set_parent(draft, &mut document, changes.parent.as_deref())?;
    store_if_changed(draft, &before, document)
}

fn set_parent(draft: &mut Draft<'_>, document: &mut Document, parent: Option<&str>) -> Result<()> {
    let Some(parent) = parent else { return Ok(()) };
    let target = if parent.is_empty() { None } else { Some(draft.bead(parent)?) };
    let target = target.as_ref().map(Document::id);
    let old: Vec<String> = document
        .elements("links")
        .filter(|(_, link)| link["type"] == LinkKind::ParentChild.as_str())
        .filter(|(_, link)| link["target"].as_str() != target)
        .map(|(key, _)| key.to_owned())
        .collect();
    let mut edit = draft.edit(document);
    old.iter().for_each(|key| {
        edit.remove("links", key);
    });
    if let Some(target) = target {
        put_link(draft, document, LinkKind::ParentChild, target, false)?;
    }
    Ok(())
}

fn store_if_changed(draft: &mut Draft<'_>, before: &Document, document: Document) -> Result<Bead> {
    let (old, new) = (before.visible(), document.visible());
    let mut fields: Vec<&str> = new
        .iter()
        .filter(|(field, value)| old.get(*field) != Some(value))
        .map(|(field, _)| field.as_str())
        .chain(old.keys().filter(|field| !new.contains_key(*field)).map(String::as_str))
        .filter(|field| *field != "updatedAt")
        .collect();
    fields.sort_unstable();
    let bead = Bead::of(&document);
    if !fields.is_empty() {
        let line = format!("{} updated: {}", bead.id, fields.join(", "));
        draft.put(document, "bead:updated", line)?;
    }
    Ok(bead)
}

/// Adds and removes labels.
///
/// # Errors
/// If a label does not fit, or there is no such bead.
pub fn label(draft: &mut Draft<'_>, name: &str, add: &[String], remove: &[String]) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let before = document.clone();
    let add = checked_labels(add)?;
    let mut edit = draft.edit(&mut document);
    for label in add {
        edit.add("labels", &label, label.as_str().into());
    }
    for label in remove {
        edit.remove("labels", label.trim());
    }
    if Bead::of(&document).labels.len() > LABELS_MAX {
        return text::refuse("a bead can have at most 100 labels", "remove some first");
    }
    store_if_changed(draft, &before, document)
}

/// Says something about a bead; returns the id of the comment.
///
/// # Errors
/// If the text does not fit, or there is no such bead.
pub fn comment(draft: &mut Draft<'_>, name: &str, said: &str) -> Result<String> {
    let said = text::sentence("a comment", said)?;
    let mut document = draft.bead(name)?;
    let by = draft.by().to_owned();
    let id = draft.edit(&mut document).comment(&by, &said);
    let first: String = said.lines().next().unwrap_or_default().chars().take(72).collect();
    let line = format!("{} commented: {first}", document.id());
    draft.put(document, "bead:commented", line)?;
    Ok(id)
}

/// Puts a bead off until a moment, or takes that back.
///
/// # Errors
/// If there is no such bead.
pub fn defer(draft: &mut Draft<'_>, name: &str, until: Option<Timestamp>) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let mut edit = draft.edit(&mut document);
    put_off(&mut edit, until);
    let line = match until {
        Some(until) => format!("{} deferred until {until:.0}", document.id()),
        None => format!("{} no longer deferred", document.id()),
    };
    let bead = Bead::of(&document);
    draft.put(document, "bead:deferred", line)?;
    Ok(bead)
}

fn put_off(edit: &mut Edit<'_>, until: Option<Timestamp>) {
    match until {
        Some(until) => edit.set("defer", until.to_string().into()),
        None => edit.clear("defer"),
    }
}

/// Deletes a bead; an edit made elsewhere at the same time brings it back.
///
/// # Errors
/// If there is no such bead, or somebody holds it.
pub fn delete(
    draft: &mut Draft<'_>,
    name: &str,
    force: bool,
    if_match: Option<&[String]>,
) -> Result<()> {
    let mut document = draft.bead(name)?;
    check_tag(&document, if_match)?;
    let bead = Bead::of(&document);
    if let Some((holder, until)) = bead.held(draft.now()).filter(|_| !force) {
        let (bead, holder) = (bead.id.clone(), holder.to_owned());
        return Err(Error::Held { bead, holder, until });
    }
    let by = draft.by().to_owned();
    draft.edit(&mut document).delete(&by);
    let line = format!("{} deleted: {}", bead.id, bead.title);
    draft.put(document, "bead:deleted", line)?;
    settle_convoys(draft, &bead.id)
}

pub(super) fn check_tag(document: &Document, wanted: Option<&[String]>) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    let tag = tag(document);
    if wanted.iter().any(|one| *one == tag || one == "*") {
        return Ok(());
    }
    Err(Error::Stale { id: document.id().to_owned() })
}

fn checked_labels(labels: &[String]) -> Result<Vec<String>> {
    if labels.len() > LABELS_MAX {
        return text::refuse("a bead can have at most 100 labels", "use fewer");
    }
    labels.iter().map(|label| text::word("a label", label)).collect()
}

fn check_metadata(metadata: &Map<String, Value>) -> Result<()> {
    let size = json!(metadata).to_string().len();
    if size > METADATA_MAX_BYTES {
        return text::refuse(
            &format!("metadata must have at most {METADATA_MAX_BYTES} bytes; this has {size}"),
            "keep large things in files of the repository and name them here",
        );
    }
    Ok(())
}
