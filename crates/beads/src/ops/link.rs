//! Links between beads.

use godel_model::LinkKind;
use serde_json::json;

use super::text;
use crate::doc::Document;
use crate::shelf::Draft;
use crate::view::Bead;
use crate::{Error, Result};

const LINKS_MAX: usize = 1_000;

/// Links a bead to another: it depends on the other if the type blocks.
///
/// # Errors
/// If one of them is not there, they are the same, or the link would close a circle.
pub fn link(draft: &mut Draft<'_>, name: &str, kind: LinkKind, other: &str) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    let target = draft.bead(other)?;
    let target = target.id().to_owned();
    if put_link(draft, &mut document, kind, &target, false)? {
        let line = format!("{} linked: {kind} {target}", document.id());
        draft.put(document.clone(), "bead:linked", line)?;
    }
    Ok(Bead::of(&document))
}

/// Removes the links of a bead to another, of one type or of all.
///
/// # Errors
/// If there is no such link.
pub fn unlink(
    draft: &mut Draft<'_>,
    name: &str,
    kind: Option<LinkKind>,
    other: &str,
) -> Result<Bead> {
    let mut document = draft.bead(name)?;
    // What it is linked to may be gone, or never was here.
    let target = draft.bead(other).map_or_else(|_| other.to_owned(), |bead| bead.id().to_owned());
    let keys: Vec<String> = document
        .elements("links")
        .filter(|(_, link)| link["target"] == target.as_str())
        .filter(|(_, link)| kind.is_none_or(|kind| link["type"] == kind.as_str()))
        .map(|(key, _)| key.to_owned())
        .collect();
    if keys.is_empty() {
        let id = document.id();
        return text::refuse(
            &format!("{id} has no such link to {target}"),
            &format!("see its links: godel bead show {id}"),
        );
    }
    let mut edit = draft.edit(&mut document);
    keys.iter().for_each(|key| {
        edit.remove("links", key);
    });
    let line = format!("{} unlinked: {target}", document.id());
    draft.put(document.clone(), "bead:unlinked", line)?;
    Ok(Bead::of(&document))
}

/// Puts a link into a document; tells whether that is news.
pub(super) fn put_link(
    draft: &Draft<'_>,
    document: &mut Document,
    kind: LinkKind,
    target: &str,
    with_birth: bool,
) -> Result<bool> {
    let id = document.id().to_owned();
    if id == target {
        return text::refuse("a bead cannot be linked to itself", "name another bead");
    }
    let key = format!("{kind} {target}");
    if document.elements("links").any(|(known, _)| known == key) {
        return Ok(false);
    }
    if document.elements("links").count() >= LINKS_MAX {
        return text::refuse("a bead can have at most 1000 links", "remove some first");
    }
    if kind.blocks()
        && let Some(mut path) = draft.index()?.way(target, &id, true)?
    {
        path.insert(0, id);
        return Err(Error::Cycle { path });
    }
    let link = json!({ "type": kind.as_str(), "target": target });
    if with_birth {
        document.complete().add("links", &key, link);
    } else {
        draft.edit(document).add("links", &key, link);
    }
    Ok(true)
}
