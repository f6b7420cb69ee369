//! What a pull request says.

use godel_forge::marked::{BEGIN, END};

use super::entry::Entry;

/// The title of a pull request.
pub(super) fn title(entry: &Entry) -> String {
    let title: String = entry.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{} ({})", title.trim(), entry.bead)
}

/// What Godel says in it.
pub(super) fn block(entry: &Entry, target: &str) -> String {
    let short = |commit: &str| commit.get(..10).unwrap_or(commit).to_owned();
    let base = entry.pull.as_ref().and_then(|pull| pull.judged_on.as_deref()).map(short);
    let (bead, source) = (&entry.bead, short(&entry.source));
    let mut text = format!("{BEGIN}\nThe work of the bead `{bead}`: `godel bead show {bead}`\n\n");
    if !entry.verdicts.is_empty() {
        let on = base.map(|base| format!(" at {base}")).unwrap_or_default();
        text.push_str(&format!("Gates on {source} merged with `{target}`{on}:\n\n"));
        for verdict in &entry.verdicts {
            let said = if verdict.passed { "passed" } else { "failed, and need not pass" };
            text.push_str(&format!("- {}: {said}\n", verdict.gate));
        }
        text.push('\n');
    }
    text.push_str(&format!("Bead: {bead}\n{END}"));
    text
}
