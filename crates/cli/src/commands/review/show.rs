//! How reviews look in a terminal.

use std::collections::HashMap;

use godel_api::{
    Review, ReviewComment, ReviewConflicts, ReviewDiff, ReviewFile, ReviewHunk, ReviewLine,
    ReviewRow,
};
use godel_model::{Clock as _, SystemClock};
use serde_json::json;

use super::SHORT_ID;
use godel_console::measure::since;
use godel_console::output::{BAD, GOOD, STRONG, WARN, plain, styled};
use godel_console::{Context, Result};

/// Lists what waits.
pub(super) fn list(context: &Context, rows: &[ReviewRow], more: bool) -> Result<()> {
    if context.output.is_json() {
        return context.output.value(&json!({ "items": rows, "hasMore": more }));
    }
    if rows.is_empty() {
        return context.output.line("Nothing waits to be reviewed.");
    }
    let now = SystemClock.now();
    let lines = rows.iter().map(|row| {
        let gates = row.gates.map_or("-", |passed| if passed { "passed" } else { "failed" });
        [
            row.bead.clone(),
            since(row.waiting_since, now),
            format!("+{} -{}", row.added, row.removed),
            row.files.to_string(),
            gates.to_owned(),
            if row.approval.is_some() { "approved".to_owned() } else { row.risks.join(", ") },
            plain(&row.title),
        ]
    });
    let header = ["BEAD", "WAITS", "LINES", "FILES", "GATES", "CARE", "TITLE"];
    context.output.table(header, lines.collect())?;
    if more {
        context.output.remark("there are newer ones: raise --limit");
    }
    Ok(())
}

/// Shows how a review stands.
pub(super) fn review(context: &Context, review: &Review) -> Result<()> {
    let (row, output) = (&review.row, context.output);
    output.line(format_args!("{}  {}", styled(STRONG, &row.bead), plain(&row.title)))?;
    let commit = row.commit.as_deref().map_or("no work", |id| id.get(..SHORT_ID).unwrap_or(id));
    output.line(format_args!(
        "{commit} for {}: {} files, +{} -{}; {} accepted, {} rejected, {} undecided",
        plain(&row.target),
        row.files,
        row.added,
        row.removed,
        review.tally.accepted,
        review.tally.rejected,
        review.tally.undecided
    ))?;
    if let Some(first) = &review.first_pass {
        let word = match first.approves {
            None => "looks at it",
            Some(true) => "would approve it",
            Some(false) => "would send it back",
        };
        output.line(format_args!("{} {word}", plain(&first.agent)))?;
        output.quote(first.summary.as_deref().unwrap_or_default())?;
    }
    if let Some(approval) = &row.approval {
        output.line(styled(GOOD, format_args!("approved by {}", plain(&approval.by))))?;
    }
    for decision in review.decisions.iter().filter(|one| one.bound != "bound") {
        let changed = decision.bound == "changed";
        let what = if changed { "has changed since" } else { "is not there any more" };
        let text = format!("{}: what you {} {what}", plain(&decision.path), decision.verdict);
        output.line(styled(WARN, text))?;
    }
    for comment in &review.comments {
        said(context, comment, "")?;
    }
    for why in &review.blocked {
        output.remark(format_args!("not to be approved yet: {}", plain(why)));
    }
    Ok(())
}

fn said(context: &Context, comment: &ReviewComment, indent: &str) -> Result<()> {
    let place = match (&comment.path, comment.line) {
        (Some(path), Some(line)) => format!(" on {}:{line}", plain(path)),
        (Some(path), None) => format!(" on {}, on a line that is not there any more", plain(path)),
        (None, _) => String::new(),
    };
    let sent = if comment.sent.is_some() { "" } else { " (not sent yet)" };
    let who = format!("{}{place}{sent}  {}", plain(&comment.by), comment.id);
    context.output.line(format_args!("{indent}{}", styled(STRONG, who)))?;
    for line in comment.text.lines() {
        context.output.line(format_args!("{indent}  {}", plain(line)))?;
    }
    Ok(())
}

/// Shows a change, with the numbers of its hunks and the comments below their lines.
pub(super) fn diff(context: &Context, diff: &ReviewDiff) -> Result<()> {
    let mut comments: HashMap<(&str, &str, u32), Vec<&ReviewComment>> = HashMap::new();
    for comment in &diff.comments {
        match (&comment.path, &comment.side, comment.line) {
            (Some(path), Some(side), Some(line)) => {
                comments.entry((path, side, line)).or_default().push(comment);
            }
            _ => said(context, comment, "")?,
        }
    }
    for file in &diff.files {
        header(context, file)?;
        for hunk in &file.hunks {
            title(context, file, hunk)?;
            for line in &hunk.lines {
                context.output.line(painted(line))?;
                for (side, number) in [("old", line.old), ("new", line.new)] {
                    let Some(number) = number else { continue };
                    // A line that stays is on both sides; it is spoken about on the new one.
                    for comment in comments.remove(&(&file.path, side, number)).unwrap_or_default()
                    {
                        said(context, comment, "    ")?;
                    }
                }
            }
        }
    }
    for comment in comments.into_values().flatten() {
        said(context, comment, "")?;
    }
    let tally = diff.tally;
    context.output.remark(format_args!(
        "\n{} accepted, {} rejected, {} undecided",
        tally.accepted, tally.rejected, tally.undecided
    ));
    Ok(())
}

fn header(context: &Context, file: &ReviewFile) -> Result<()> {
    let mut words = vec![file.status.replace('_', " ")];
    if let Some(old) = &file.old_path {
        words.push(format!("from {}", plain(old)));
    }
    if let (Some(old), Some(new)) = (&file.old, &file.new)
        && old.mode != new.mode
    {
        words.push(format!("{} to {}", old.mode, new.mode));
    }
    let marks =
        [(file.binary, "binary"), (file.generated, "generated"), (file.cut, "too long to show")];
    words.extend(marks.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned()));
    words.extend(file.standing.clone());
    let counts = format!("+{} -{}", file.added, file.removed);
    let name = styled(STRONG, plain(&file.path));
    context.output.line(format_args!("{name}  {counts}  {}", words.join(", ")))
}

fn title(context: &Context, file: &ReviewFile, hunk: &ReviewHunk) -> Result<()> {
    let style = match hunk.standing.as_str() {
        "accepted" => GOOD,
        "rejected" | "mixed" => BAD,
        _ => WARN,
    };
    let place = format!("{}:{}", plain(&file.path), hunk.number);
    let ranges =
        format!("@@ -{},{} +{},{} @@", hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len);
    let standing = styled(style, format_args!("[{place} {}]", hunk.standing));
    context.output.line(format_args!("{standing} {ranges} {}", plain(&hunk.header)))
}

/// Paints a line, and makes bold what differs in it.
fn painted(line: &ReviewLine) -> String {
    let (sign, style) = match line.kind.as_str() {
        "removed" => ('-', Some(BAD)),
        "added" => ('+', Some(GOOD)),
        _ => (' ', None),
    };
    let number = line.at.map_or_else(String::new, |at| at.to_string());
    let end = if line.no_newline { "  (no line break at the end)" } else { "" };
    let shown = |text: &str| plain(&text.replace('\t', "    "));
    let Some(style) = style else {
        return format!("{number:>4} {sign}{}{end}", shown(line.text.trim_end_matches('\r')));
    };
    let (mut text, mut at) = (String::new(), 0);
    for mark in &line.marks {
        let (from, to) = (mark.from as usize, mark.to as usize);
        let (Some(before), Some(marked)) = (line.text.get(at..from), line.text.get(from..to))
        else {
            break;
        };
        text.push_str(&styled(style, shown(before)));
        text.push_str(&styled(style.bold().underline(), shown(marked)));
        at = to;
    }
    let rest = line.text.get(at..).unwrap_or_default().trim_end_matches('\r');
    text.push_str(&styled(style, shown(rest)));
    format!("{number:>4} {}{text}{end}", styled(style, sign))
}

/// Shows the files in conflict, with both sides as git marks them.
pub(super) fn conflicts(context: &Context, found: &ReviewConflicts) -> Result<()> {
    let target = plain(&found.target);
    if found.files.is_empty() {
        context.output.remark(format_args!("it can be merged into {target}"));
    }
    for file in &found.files {
        context.output.line(format_args!("{}: {}", plain(&file.path), file.why))?;
        for spot in &file.spots {
            let mark =
                |sign: &str, name: &str| context.output.line(format_args!("  {sign} {name}"));
            let each = |lines: &[String]| {
                let mut lines = lines.iter();
                lines.try_for_each(|line| {
                    let line = plain(&line.trim_end_matches('\r').replace('\t', "    "));
                    context.output.line(format_args!("  {line}"))
                })
            };
            each(&spot.above)?;
            mark("<<<<<<<", &target)?;
            each(&spot.target)?;
            mark("|||||||", "before")?;
            each(&spot.base)?;
            mark("=======", "")?;
            each(&spot.work)?;
            mark(">>>>>>>", "the work")?;
            each(&spot.below)?;
        }
        if file.cut || file.spots.iter().any(|spot| spot.cut) {
            context.output.remark("  (there is more of it)");
        }
    }
    if found.cut {
        context.output.remark("(there are more files)");
    }
    Ok(())
}
