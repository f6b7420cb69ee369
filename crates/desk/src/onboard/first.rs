//! The first bead of a repository: its settings, committed by whoever sits there.

use std::path::Path;

use godel_beads::ops::{self, Landing, NewBead, Passed, Verdict};
use godel_beads::{Filter, Page, Shelf};
use godel_console::Result;
use godel_model::BeadKind;
use serde::Serialize;

use super::file;
use super::trial::Trial;
use crate::desk::Desk;
use crate::own_git;

/// By this word an unfinished one is found again.
const LABEL: &str = "onboard";
const TITLE: &str = "Get Godel ready in this repository";
const GATE: &str = "test";

/// The bead that is done.
#[derive(Debug, Serialize)]
pub(super) struct First {
    bead: String,
    commit: String,
    branch: String,
}

impl First {
    /// Says it in a line.
    pub(super) fn words(&self) -> String {
        let short = self.commit.get(..10).unwrap_or(&self.commit);
        format!(
            "{} is done: {} is in {} as {short} (`godel bead show {}`)",
            self.bead,
            file::NAME,
            self.branch,
            self.bead
        )
    }
}

/// Finds one that was begun by a run that did not come to its end.
pub(super) fn begun(shelf: &mut Shelf) -> Result<Option<String>> {
    let filter = Filter { labels: vec![LABEL.to_owned()], ..Filter::default() };
    let found = shelf.list(&filter, &Page { limit: 10, ..Page::default() })?;
    Ok(found.into_iter().find(|row| row.title == TITLE).map(|row| row.id))
}

/// Makes the bead, commits the file, and records both as done.
pub(super) fn finish(
    desk: &Desk,
    shelf: &mut Shelf,
    (root, begun): (&Path, Option<String>),
    tests: Option<&Trial>,
) -> Result<First> {
    let bead = match begun {
        Some(bead) => bead,
        None => make(desk, shelf)?,
    };
    let branch = own_git::branch(root)?;
    if !is_committed(root)? {
        commit(root, &bead)?;
    }
    let last = ["log", "-1", "--format=%H", "--", file::NAME];
    let commit = own_git::run(root, &last, "look at it with `git log`")?;
    let tried = match tests {
        Some(tests)
            if own_git::run(root, &["rev-parse", &format!("{commit}^")], "")? == tests.commit =>
        {
            Some(tests)
        }
        _ => None,
    };
    let verdicts = verdicts(tried, &commit);
    let gates = verdicts.iter().map(|one| Passed { gate: one.gate.clone(), passed: one.passed });
    let landing = Landing {
        branch: branch.clone(),
        target: commit.clone(),
        source: None,
        gates: gates.collect(),
        change: None,
    };
    let id = bead.clone();
    desk.write(shelf, move |draft| {
        for verdict in &verdicts {
            ops::record_verdict(draft, &id, verdict)?;
        }
        ops::finish(draft, &id, &landing)
    })?;
    Ok(First { bead, commit, branch })
}

fn make(desk: &Desk, shelf: &mut Shelf) -> Result<String> {
    let new = NewBead {
        title: TITLE.to_owned(),
        kind: Some(BeadKind::Chore),
        description: Some(format!("{} says what work must pass and who lets it land.", file::NAME)),
        acceptance: Some(format!("{} is in the branch that work lands in.", file::NAME)),
        labels: vec![LABEL.to_owned()],
        ..NewBead::default()
    };
    Ok(desk.write(shelf, move |draft| ops::create(draft, &new))?.id)
}

/// Tells whether the file of the work tree is in the commit that is checked out.
fn is_committed(root: &Path) -> Result<bool> {
    let there = own_git::ask(root, &["cat-file", "-e", &format!("HEAD:./{}", file::NAME)])?;
    let changed = ["status", "--porcelain", "--", file::NAME];
    Ok(there.status.success() && own_git::run(root, &changed, "see `git status`")?.is_empty())
}

fn commit(root: &Path, bead: &str) -> Result<()> {
    let hint = "mend that and say `godel onboard` again: it goes on where it stopped";
    // Only this file: what else is staged is somebody's own work.
    own_git::run(root, &["add", "--", file::NAME], hint)?;
    let message = format!("{TITLE}\n\nBead: {bead}");
    let asked = ["commit", "--quiet", "--only", "-m", &message, "--", file::NAME];
    own_git::run(root, &asked, hint).map(drop)
}

/// What the tests said counts for the commit: they were tried on its files, with the new one among them.
fn verdicts(tests: Option<&Trial>, commit: &str) -> Vec<Verdict> {
    let Some(tests) = tests.filter(|tests| tests.passed == Some(true)) else { return Vec::new() };
    let detail = format!("tried in a copy before it was committed: {}", tests.command);
    vec![Verdict {
        gate: GATE.to_owned(),
        passed: true,
        commit: commit.to_owned(),
        detail: Some(detail),
    }]
}
