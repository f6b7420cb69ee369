//! `godel bead create` and `update`.

use godel_args::bead::{Create, Text, Update};
use godel_args::units::Cap;
use godel_beads::ops::{self, Changes, NewBead};
use godel_console::{Error, Exit, Result};
use serde_json::{Map, Value};

use super::answer;
use crate::desk::Desk;

/// Makes a bead.
pub(super) fn create(desk: &Desk, asked: Create) -> Result<Exit> {
    let new = NewBead {
        title: asked.title,
        kind: asked.kind,
        priority: asked.priority,
        description: description(
            desk,
            Text { file: asked.text.file.or(asked.stdin), ..asked.text },
        )?,
        acceptance: asked.acceptance,
        labels: asked.labels,
        parent: asked.parent,
        blocked_by: asked.blocked_by,
        blocks: asked.blocks,
        estimate: asked.estimate.and_then(Cap::value),
        budget: asked.budget.and_then(Cap::value),
        metadata: asked.metadata.into_iter().map(|(key, text)| (key, text.into())).collect(),
        id: None,
    };
    let mut shelf = desk.shelf()?;
    let bead = desk.write(&mut shelf, move |draft| ops::create(draft, &new))?;
    answer(desk, &bead, &format!("Created bead {}", bead.id))
}

/// Changes what a bead says.
pub(super) fn update(desk: &Desk, asked: Update) -> Result<Exit> {
    let removed = |cap: Cap<u64>| cap.value().unwrap_or(0);
    let parent = if asked.no_parent { Some(String::new()) } else { asked.parent };
    let changes = Changes {
        title: asked.title,
        kind: asked.kind,
        priority: asked.priority,
        description: description(desk, asked.text)?,
        acceptance: asked.acceptance,
        rank: asked.rank,
        estimate: asked.estimate.map(removed),
        budget: asked.budget.map(removed),
        labels: None,
        metadata: members(asked.metadata),
        metadata_whole: false,
        parent,
        defer: None,
        no_worktree: false,
        if_match: None,
    };
    if changes == Changes::default() {
        let hint = "such as --priority high; `godel bead update --help` lists what can be changed";
        return Err(Error::usage("nothing to change was given", hint));
    }
    let id = asked.id;
    let mut shelf = desk.shelf()?;
    let bead = desk.write(&mut shelf, move |draft| ops::update(draft, &id, &changes))?;
    answer(desk, &bead, &format!("Updated bead {}", bead.id))
}

fn description(desk: &Desk, text: Text) -> Result<Option<String>> {
    match (text.description, text.file) {
        (Some(text), _) => desk.text(&text).map(Some),
        (None, Some(path)) => desk.file(&path).map(Some),
        (None, None) => Ok(None),
    }
}

fn members(pairs: Vec<(String, String)>) -> Map<String, Value> {
    let value = |text: String| if text.is_empty() { Value::Null } else { text.into() };
    pairs.into_iter().map(|(key, text)| (key, value(text))).collect()
}
