//! What an agent is told: one message with all that was said and rejected.

use std::collections::HashSet;

use godel_git::{Changes, FileChange, Hunk, Line, LineKind, Part, Standing};

use uuid::Uuid;

use crate::doc::{Comment, Review, Side};

/// How long the message may be; the rest is in the review.
const MESSAGE_MAX_BYTES: usize = 18_000;
/// How much of it comments may take.
const COMMENTS_MAX_BYTES: usize = 12_000;
/// How many lines of a rejected hunk are quoted.
const QUOTED_LINES: usize = 12;

/// A message, and the comments that are in it.
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) told: HashSet<Uuid>,
}

/// Writes all that waits to be said as one message; nothing if that is nothing. Comments for which there is
/// no room wait for the next one.
pub(crate) fn write(review: &Review, changes: &Changes, words: Option<&str>) -> Option<Message> {
    let standings = changes.standings(&review.decided());
    let parts: Vec<String> = changes
        .parts()
        .filter_map(|part| rejected(&part, standings.get(part.key()).copied()?))
        .collect();
    let threads = review.pending().filter(|one| one.reply_to.is_none_or(|to| is_sent(review, to)));
    let (mut comments, mut told, mut room) = (Vec::new(), HashSet::new(), COMMENTS_MAX_BYTES);
    for first in threads {
        let (text, ids) = thread(review, first);
        // A single one is always said, cut if need be.
        if text.len() > room && !comments.is_empty() {
            break;
        }
        room = room.saturating_sub(text.len());
        comments.push(text);
        told.extend(ids);
    }
    let words = words.map(str::trim).filter(|words| !words.is_empty());
    if parts.is_empty() && comments.is_empty() && words.is_none() {
        return None;
    }
    let mut text = format!(
        "A person looked at the work (commit {}) and asks for changes; this is round {}. What follows \
         between the lines is quoted from the review.",
        changes.head,
        review.rounds + 1
    );
    for (title, list) in
        [("", words.map(str::to_owned).into_iter().collect()), ("Comments:", comments)]
    {
        append(&mut text, title, list);
    }
    append(&mut text, "Rejected: change this otherwise, or take it back:", parts);
    text.push_str("\n\nLeave all else as it is, mend this, and commit.");
    // Quoted lines may hold what must not be in a bead or in a terminal.
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let text: String = text.chars().map(|c| if odd(c) { '\u{fffd}' } else { c }).collect();
    Some(Message { text: godel_agents::clip(&text, MESSAGE_MAX_BYTES), told })
}

fn append(text: &mut String, title: &str, list: Vec<String>) {
    if list.is_empty() {
        return;
    }
    text.push_str("\n\n");
    if !title.is_empty() {
        text.push_str(title);
        text.push('\n');
    }
    text.push_str(&list.join("\n"));
}

fn is_sent(review: &Review, id: uuid::Uuid) -> bool {
    review.comments.iter().any(|one| one.id == id && one.sent.is_some())
}

/// A comment with the answers to it, and the ids of all of them.
fn thread(review: &Review, first: &Comment) -> (String, Vec<Uuid>) {
    let place = match &first.on {
        None => String::new(),
        Some(on) => {
            let side = if on.side == Side::Old { " (as it was)" } else { "" };
            format!("{}:{}{side}, at `{}`: ", on.path, on.line, on.quote.trim())
        }
    };
    let mut text = format!("- {place}{}", indented(&first.text));
    let mut ids = vec![first.id];
    let answers = review.pending().filter(|one| one.reply_to == Some(first.id));
    for answer in answers {
        text.push_str(&format!("\n  - {}", indented(&answer.text)));
        ids.push(answer.id);
    }
    (text, ids)
}

fn indented(text: &str) -> String {
    text.trim().replace('\n', "\n  ")
}

fn rejected(part: &Part<'_>, standing: Standing) -> Option<String> {
    let some = match standing {
        Standing::Rejected => "",
        Standing::Mixed => " (some of its lines)",
        Standing::Edited => " (a person writes this part)",
        Standing::Accepted | Standing::Undecided => return None,
    };
    Some(match part {
        Part::File(file, _) => format!("- {}: {}{some}", file.path, whole(file)),
        Part::Hunk(file, hunk) => {
            format!("- {}:{}{some}\n{}", file.path, hunk.new_start.max(1), quoted(hunk))
        }
    })
}

fn whole(file: &FileChange) -> String {
    match (&file.old_path, file.binary) {
        (Some(old), _) => format!("the new name (it was {old})"),
        (None, true) => "the new content, which is binary".to_owned(),
        (None, false) => format!("that it is {}", file.status.as_str().replace('_', " ")),
    }
}

fn quoted(hunk: &Hunk) -> String {
    let line = |line: &Line| {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        };
        let text: String = line.text.chars().take(200).collect();
        format!("    {sign}{}", text.trim_end_matches('\r'))
    };
    let body = hunk.body();
    let mut lines: Vec<String> = body.iter().take(QUOTED_LINES).map(line).collect();
    if body.len() > QUOTED_LINES {
        lines.push(format!("    ... and {} more lines", body.len() - QUOTED_LINES));
    }
    lines.join("\n")
}
