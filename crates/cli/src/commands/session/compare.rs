//! `godel session compare`: what the files of two ends differ in.

use godel_api::{TalkCompared, TalkEnd};
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};

use super::{PATH, find, place};
use crate::commands::attempt::plain_lines;

/// Compares the files of two ends.
pub(super) async fn run(
    context: &Context,
    given: &str,
    (left, right): (&str, &str),
) -> Result<Exit> {
    let found = locate::server(context).await?;
    let talk = find(&found.client, given).await?;
    let number = |given| place(&talk, Some(given)).map(|node| node.unwrap_or_default().to_string());
    let query = [("left", number(left)?), ("right", number(right)?)];
    let path = format!("{PATH}/{}/compare", talk.id);
    let told: TalkCompared = found.client.get(&path, &query).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&told)?;
        return Ok(Exit::Done);
    }
    let TalkCompared { files, added, removed, .. } = told;
    output.text(plain_lines(&told.patch))?;
    for end in [&told.left, &told.right] {
        output.note(words(end));
    }
    let kept = told.left.files_of.is_some() && told.right.files_of.is_some();
    match files {
        _ if !kept => output
            .note("take a snapshot where files are to be compared: godel agent snapshot AGENT"),
        0 => output.note("their files are the same"),
        _ => output.note(format_args!("{files} files, +{added} -{removed}")),
    }
    if told.cut {
        output.note("only the beginning is shown");
    }
    Ok(Exit::Done)
}

/// Says whose files stand for an end.
fn words(end: &TalkEnd) -> String {
    let TalkEnd { node, files_of, live, commit } = end;
    let short = commit.as_deref().map(|commit| commit.get(..8).unwrap_or(commit));
    let at = short.map_or_else(String::new, |commit| format!(", at commit {}", plain(commit)));
    match files_of {
        None => format!("node {node}: no files were kept at this end"),
        Some(_) if *live => format!("node {node}: the worktree as it is now{at}"),
        Some(of) if of == node => format!("node {node}: its snapshot{at}"),
        Some(of) => format!("node {node}: the snapshot of node {of}{at}"),
    }
}
