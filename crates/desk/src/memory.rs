//! `godel remember`, `memories` and `forget`: what is worth knowing later.

use godel_beads::ops;
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Exit, Result};
use serde_json::json;

use crate::desk::Desk;

/// Remembers something.
pub(crate) fn remember(desk: &Desk, text: &str, name: Option<String>) -> Result<Exit> {
    let text = desk.text(text)?;
    let mut shelf = desk.shelf()?;
    let known =
        desk.write(&mut shelf, move |draft| ops::remember(draft, name.as_deref(), &text))?;
    if desk.output.is_json() {
        desk.output.value(&known)?;
    } else {
        desk.output.line(format_args!("Remembered {}", known.id))?;
    }
    Ok(Exit::Done)
}

/// Lists what is remembered.
pub(crate) fn list(desk: &Desk, words: &[String]) -> Result<Exit> {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut known = desk.shelf()?.memories()?;
    known.retain(|memory| {
        let text = format!("{} {}", memory.id, memory.text).to_lowercase();
        words.iter().all(|word| text.contains(word))
    });
    if desk.output.is_json() {
        desk.output.value(&json!({ "items": known }))?;
        return Ok(Exit::Done);
    }
    for memory in &known {
        let by = memory.created_by.as_deref().unwrap_or("somebody");
        let id = styled(STRONG, plain(&memory.id));
        desk.output.line(format_args!("{id}  {} {:.0}", plain(by), memory.updated_at))?;
        desk.output.quote(&memory.text)?;
    }
    if known.is_empty() {
        desk.output.remark("nothing is remembered; `godel remember TEXT` changes that");
    }
    Ok(Exit::Done)
}

/// Forgets something.
pub(crate) fn forget(desk: &Desk, name: String) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let forgotten = name.clone();
    desk.write(&mut shelf, move |draft| ops::forget(draft, &name))?;
    if desk.output.is_json() {
        desk.output.value(&json!({ "forgotten": forgotten }))?;
    } else {
        desk.output.line(format_args!("Forgot {forgotten}"))?;
    }
    Ok(Exit::Done)
}
