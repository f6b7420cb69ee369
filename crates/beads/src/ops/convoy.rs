//! Convoys: beads that belong together.

use godel_model::BeadStatus;

use super::bead::check_tag;
use super::text;
use crate::doc::{Class, Document};
use crate::shelf::Draft;
use crate::view::{Bead, Convoy};
use crate::{Error, Result};

const BEADS_MAX: usize = 10_000;

/// A convoy that is to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewConvoy {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// The beads in it.
    pub beads: Vec<String>,
    /// An id that was minted before, so that making it again makes no second one.
    pub id: Option<String>,
}

/// What is to be changed of a convoy; `None` leaves it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConvoyChanges {
    /// The new name.
    pub name: Option<String>,
    /// The new description; an empty one removes it.
    pub description: Option<String>,
    /// Whether it is archived.
    pub archived: Option<bool>,
    /// The entity tag that the document must have.
    pub if_match: Option<Vec<String>>,
}

/// Makes a convoy.
///
/// # Errors
/// If a text does not fit, or a bead that is named is not there.
pub fn create_convoy(draft: &mut Draft<'_>, new: &NewConvoy) -> Result<Convoy> {
    let name = text::title(&new.name)?;
    if let Some(id) = &new.id
        && let Some(made) = draft.find(Class::Convoy, id)?
    {
        return Ok(Convoy::of(&made));
    }
    let id = match &new.id {
        Some(id) => id.parse()?,
        None => draft.convoy_id()?,
    };
    let beads = resolve(draft, &new.beads)?;
    let birth = draft.birth();
    let mut document = draft.fresh(Class::Convoy, id.as_str(), &birth);
    let by = draft.by().to_owned();
    let mut edit = document.complete();
    edit.set("name", name.as_str().into());
    edit.set("status", "active".into());
    edit.set("createdBy", by.into());
    if let Some(description) = new.description.as_deref().filter(|text| !text.trim().is_empty()) {
        edit.set("description", text::body("a description", description)?.into());
    }
    beads.iter().for_each(|bead| edit.add("beads", bead, bead.as_str().into()));
    settle(draft, &mut document)?;
    let line = format!("{id} created: {name} ({} beads)", beads.len());
    draft.put(document.clone(), "convoy:created", line)?;
    Ok(Convoy::of(&document))
}

/// Changes what a convoy says.
///
/// # Errors
/// If a text does not fit, or there is no such convoy.
pub fn update_convoy(draft: &mut Draft<'_>, name: &str, changes: &ConvoyChanges) -> Result<Convoy> {
    let mut document = draft.convoy(name)?;
    check_tag(&document, changes.if_match.as_deref())?;
    let before = document.clone();
    let mut edit = draft.edit(&mut document);
    if let Some(name) = &changes.name {
        edit.set("name", text::title(name)?.into());
    }
    match changes.description.as_deref() {
        Some(description) if description.trim().is_empty() => edit.clear("description"),
        Some(description) => {
            edit.set("description", text::body("a description", description)?.into());
        }
        None => {}
    }
    match changes.archived {
        Some(true) => edit.set("status", "archived".into()),
        Some(false) => edit.set("status", "active".into()),
        None => {}
    }
    settle(draft, &mut document)?;
    if document != before {
        let line = format!("{} updated", document.id());
        draft.put(document.clone(), "convoy:updated", line)?;
    }
    Ok(Convoy::of(&document))
}

/// Puts a convoy away, whatever its beads do.
///
/// # Errors
/// If there is no such convoy.
pub fn archive_convoy(draft: &mut Draft<'_>, name: &str) -> Result<Convoy> {
    let mut document = draft.convoy(name)?;
    if document.text("status") != Some("archived") {
        draft.edit(&mut document).set("status", "archived".into());
        let line = format!("{} archived", document.id());
        draft.put(document.clone(), "convoy:archived", line)?;
    }
    Ok(Convoy::of(&document))
}

/// Deletes a convoy; its beads stay.
///
/// # Errors
/// If there is no such convoy.
pub fn delete_convoy(draft: &mut Draft<'_>, name: &str, if_match: Option<&[String]>) -> Result<()> {
    let mut document = draft.convoy(name)?;
    check_tag(&document, if_match)?;
    let by = draft.by().to_owned();
    draft.edit(&mut document).delete(&by);
    let line = format!("{} deleted", document.id());
    draft.put(document, "convoy:deleted", line)
}

/// Puts beads into a convoy.
///
/// # Errors
/// If there is no such convoy or bead.
pub fn add_to_convoy(draft: &mut Draft<'_>, name: &str, beads: &[String]) -> Result<Convoy> {
    let mut document = draft.convoy(name)?;
    let before = document.clone();
    let beads = resolve(draft, beads)?;
    let mut edit = draft.edit(&mut document);
    beads.iter().for_each(|bead| edit.add("beads", bead, bead.as_str().into()));
    if document.elements("beads").count() > BEADS_MAX {
        return text::refuse("a convoy can have at most 10000 beads", "make another convoy");
    }
    store(draft, &before, document, &format!("added {}", beads.join(", ")))
}

/// Takes beads out of a convoy; they stay on the shelf.
///
/// # Errors
/// If there is no such convoy, or a bead is not in it.
pub fn remove_from_convoy(draft: &mut Draft<'_>, name: &str, beads: &[String]) -> Result<Convoy> {
    let mut document = draft.convoy(name)?;
    let before = document.clone();
    for bead in beads {
        // One that is gone from the shelf can still be taken out of the convoy.
        let id = draft.bead(bead).map_or_else(|_| bead.clone(), |bead| bead.id().to_owned());
        if !draft.edit(&mut document).remove("beads", &id) {
            return Err(Error::NotFound { what: "bead", name: bead.clone() });
        }
    }
    store(draft, &before, document, &format!("removed {}", beads.join(", ")))
}

fn store(
    draft: &mut Draft<'_>,
    before: &Document,
    mut document: Document,
    what: &str,
) -> Result<Convoy> {
    if document != *before {
        settle(draft, &mut document)?;
        let line = format!("{} {what}", document.id());
        draft.put(document.clone(), "convoy:updated", line)?;
    }
    Ok(Convoy::of(&document))
}

/// Brings the convoys of a bead to what its status means for them.
///
/// # Errors
/// If the repository cannot be read.
pub fn settle_convoys(draft: &mut Draft<'_>, bead: &str) -> Result<()> {
    let convoys = draft.index()?.convoys_of(bead)?;
    convoys.iter().try_for_each(|convoy| settle_convoy(draft, convoy))
}

/// Brings a convoy to what the status of its beads means for it.
///
/// # Errors
/// If the repository cannot be read.
pub fn settle_convoy(draft: &mut Draft<'_>, id: &str) -> Result<()> {
    let found = draft.find(Class::Convoy, id)?.filter(|convoy| convoy.deleted().is_none());
    let Some(mut convoy) = found else { return Ok(()) };
    let before = convoy.clone();
    settle(draft, &mut convoy)?;
    if convoy != before {
        let status = convoy.text("status").unwrap_or_default();
        let event = if status == "completed" { "convoy:completed" } else { "convoy:reopened" };
        let line = format!("{id} {status}");
        draft.put(convoy, event, line)?;
    }
    Ok(())
}

/// Sets whether a convoy is completed: when all its beads are done.
fn settle(draft: &mut Draft<'_>, convoy: &mut Document) -> Result<()> {
    let status = convoy.text("status").unwrap_or("active").to_owned();
    if status == "archived" {
        return Ok(());
    }
    let beads: Vec<String> = convoy.elements("beads").map(|(bead, _)| bead.to_owned()).collect();
    let mut done = !beads.is_empty();
    for bead in beads {
        let document = draft.find(Class::Bead, &bead)?;
        let bead = document.as_ref().map(Bead::of);
        done &=
            bead.is_none_or(|bead| bead.status == BeadStatus::Done || bead.deleted_at.is_some());
    }
    let at = draft.now().to_string();
    match (status.as_str(), done) {
        ("active", true) => {
            let mut edit = draft.edit(convoy);
            edit.set("status", "completed".into());
            edit.set("completedAt", at.into());
        }
        ("completed", false) => {
            let mut edit = draft.edit(convoy);
            edit.set("status", "active".into());
            edit.clear("completedAt");
        }
        _ => {}
    }
    Ok(())
}

fn resolve(draft: &mut Draft<'_>, names: &[String]) -> Result<Vec<String>> {
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        let id = draft.bead(name)?.id().to_owned();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}
