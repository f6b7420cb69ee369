//! What is worth knowing later, for whoever works here next.

use sha2::{Digest as _, Sha256};

use super::text;
use crate::doc::Class;
use crate::shelf::Draft;
use crate::view::Memory;
use crate::{Error, Result};

const NAME_MAX_CHARS: usize = 60;

/// Remembers something, under a name if one is given.
///
/// # Errors
/// If the text is empty or too long, or the name does not fit.
pub fn remember(draft: &mut Draft<'_>, name: Option<&str>, what: &str) -> Result<Memory> {
    let what = text::sentence("what is remembered", what)?;
    let id = match name {
        Some(name) => checked(name)?,
        // The same sentence twice is one memory.
        None => derived(&what),
    };
    let by = draft.by().to_owned();
    let mut document = match draft.find(Class::Memory, &id)? {
        Some(known) => known,
        // The same name in two clones means the same memory.
        None => draft.fresh(Class::Memory, &id, &id),
    };
    let forgotten = document.deleted().is_some();
    let mut edit = draft.edit(&mut document);
    if forgotten {
        edit.set_anew("text", what.as_str().into());
    } else {
        edit.set("text", what.as_str().into());
    }
    edit.set("createdBy", by.into());
    let first: String = what.lines().next().unwrap_or_default().chars().take(60).collect();
    draft.put(document.clone(), "memory:remembered", format!("remembered {id}: {first}"))?;
    Memory::of(&document).ok_or(Error::NotFound { what: "memory", name: id })
}

/// Forgets something.
///
/// # Errors
/// If nothing is remembered under this name.
pub fn forget(draft: &mut Draft<'_>, name: &str) -> Result<()> {
    let missing = || Error::NotFound { what: "memory", name: name.to_owned() };
    let id = checked(name)?;
    let known = draft.find(Class::Memory, &id)?.filter(|known| known.deleted().is_none());
    let mut document = known.ok_or_else(missing)?;
    let by = draft.by().to_owned();
    draft.edit(&mut document).delete(&by);
    draft.put(document, "memory:forgotten", format!("forgot {id}"))
}

fn checked(name: &str) -> Result<String> {
    let fits = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    let good = !name.is_empty()
        && name.len() <= NAME_MAX_CHARS
        && name.chars().all(fits)
        && !name.starts_with('-');
    if good {
        return Ok(name.to_owned());
    }
    text::refuse(
        "the name of a memory is made of a-z, 0-9 and -",
        "such as build-command; or leave it out",
    )
}

fn derived(what: &str) -> String {
    let fits =
        |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let words: String = what.chars().map(fits).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).take(4).collect();
    let hash = Sha256::digest(what.as_bytes());
    let hash: String = hash.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    let mut id = words.join("-");
    id.truncate(NAME_MAX_CHARS - 8);
    let id = id.trim_matches('-');
    if id.is_empty() { format!("memory-{hash}") } else { format!("{id}-{hash}") }
}
