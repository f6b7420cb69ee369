//! How reviews look on the wire.

use std::collections::HashMap;

use godel_api::{
    Review, ReviewApproval, ReviewComment, ReviewConflict, ReviewConflictSpot, ReviewConflicts,
    ReviewDecision, ReviewDiff, ReviewFile, ReviewFirstPass, ReviewHunk, ReviewLine, ReviewLines,
    ReviewMark, ReviewPair, ReviewRow, ReviewSide, ReviewTakeover, ReviewTally,
};
use godel_git::{
    Bound, Clash, ClashSpot, Clashes, FileChange, Hunk, Line, LineKind, Standing, Takeover, Tally,
    Verdict,
};
use godel_reviews::{Approval, Comment, Diff, FirstPass, Full, Made, Side, Spot, Summary};
use jiff::Timestamp;

pub(super) fn row(found: Summary) -> ReviewRow {
    let (base, commit) = found.span.unzip();
    ReviewRow {
        bead: found.bead,
        project_id: found.project.uuid(),
        title: found.title,
        status: found.status.to_string(),
        target: found.target,
        base,
        commit,
        files: found.size.files,
        added: found.size.added,
        removed: found.size.removed,
        risks: found.size.risks.into_iter().map(ToOwned::to_owned).collect(),
        gates: found.gates,
        approval: found.approval.map(approval),
        pending: found.pending,
        rounds: found.rounds,
        waiting_since: found.since,
    }
}

pub(super) fn approval(found: Approval) -> ReviewApproval {
    let Approval { commit, by, at, note } = found;
    ReviewApproval { commit, by, at, note }
}

pub(super) fn review(found: Full) -> Review {
    let first_pass = found
        .first_pass
        .map(|FirstPass { agent, approves, summary }| ReviewFirstPass { agent, approves, summary });
    Review {
        row: row(found.summary),
        wants: found.wants.to_owned(),
        tally: tally(found.tally),
        decisions: found.decisions.into_iter().map(decision).collect(),
        comments: found.comments.into_iter().map(spot).collect(),
        first_pass,
        blocked: found.blocked,
        applied: found.applied.map(takeover),
    }
}

fn takeover(found: Takeover) -> ReviewTakeover {
    let Takeover { commit, before, by, at } = found;
    ReviewTakeover { commit, before, by, at: Timestamp::from_second(at).unwrap_or_default() }
}

/// Writes where the work conflicts with its branch.
pub(super) fn conflicts((target, found): (String, Clashes)) -> ReviewConflicts {
    let Clashes { target: target_commit, head: commit, files, cut } = found;
    let spot = |found: ClashSpot| {
        let ClashSpot { above, target, base, work, below, cut } = found;
        ReviewConflictSpot { above, target, base, work, below, cut }
    };
    let file = |found: Clash| {
        let Clash { path, why, spots, cut } = found;
        let spots = spots.into_iter().map(spot).collect();
        ReviewConflict { path, why: why.to_owned(), spots, cut }
    };
    let files = files.into_iter().map(file).collect();
    ReviewConflicts { target, target_commit, commit, files, cut }
}

fn tally(found: Tally) -> ReviewTally {
    let Tally { accepted, rejected, undecided } = found;
    ReviewTally { accepted, rejected, undecided }
}

fn decision((made, bound): (Made, Bound)) -> ReviewDecision {
    let Made { decision, by, at, .. } = made;
    let (verdict, text) = match decision.verdict {
        Verdict::Accepted => ("accepted", None),
        Verdict::Rejected => ("rejected", None),
        Verdict::Edited(text) => ("edited", Some(text)),
    };
    let bound = match bound {
        Bound::Bound => "bound",
        Bound::Changed => "changed",
        Bound::Gone => "gone",
    };
    ReviewDecision {
        path: decision.path,
        key: decision.key,
        lines: decision.lines.map(|lines| ReviewLines { from: lines.from, to: lines.to }),
        verdict: verdict.to_owned(),
        text,
        bound: bound.to_owned(),
        by,
        at,
    }
}

fn spot(found: Spot) -> ReviewComment {
    comment(found.comment, found.line)
}

/// Writes a comment with the line where it is now.
pub(super) fn comment(found: Comment, line: Option<u32>) -> ReviewComment {
    let Comment { id, by, at, on, commit, text, reply_to, sent } = found;
    let side = on.as_ref().map(|on| match on.side {
        Side::Old => "old".to_owned(),
        Side::New => "new".to_owned(),
    });
    let (path, quote) = on.map(|on| (on.path, on.quote)).unzip();
    ReviewComment { id, by, at, text, path, side, line, quote, commit, reply_to, sent }
}

/// Writes files of a change, side by side too if asked for.
pub(super) fn diff(found: Diff, split: bool) -> ReviewDiff {
    let Diff { base, head, files, total, next, cut, standings, tally: counted, comments } = found;
    let files = files.into_iter().map(|(number, one)| file(number, one, &standings, split));
    ReviewDiff {
        files: files.collect(),
        base,
        head,
        total,
        next,
        cut,
        tally: tally(counted),
        comments: comments.into_iter().map(spot).collect(),
    }
}

type Standings = HashMap<String, Standing>;

fn standing(standings: &Standings, key: &str) -> String {
    let word = match standings.get(key) {
        None | Some(Standing::Undecided) => "undecided",
        Some(Standing::Accepted) => "accepted",
        Some(Standing::Rejected) => "rejected",
        Some(Standing::Mixed) => "mixed",
        Some(Standing::Edited) => "edited",
    };
    word.to_owned()
}

fn file(number: usize, found: FileChange, standings: &Standings, split: bool) -> ReviewFile {
    let side = |side: godel_git::Side| {
        let godel_git::Side { mode, id, size } = side;
        ReviewSide { mode, id, size }
    };
    let hunks = (1..).zip(found.hunks).map(|(number, one)| hunk(number, one, standings, split));
    ReviewFile {
        number,
        hunks: hunks.collect(),
        standing: found.key.as_ref().map(|key| standing(standings, key)),
        path: found.path,
        old_path: found.old_path,
        status: found.status.as_str().to_owned(),
        old: found.old.map(side),
        new: found.new.map(side),
        binary: found.binary,
        generated: found.generated,
        cut: found.cut,
        entire: found.entire,
        key: found.key,
        added: found.added,
        removed: found.removed,
    }
}

fn hunk(number: usize, found: Hunk, standings: &Standings, split: bool) -> ReviewHunk {
    let pair = |(old, new)| ReviewPair { old, new };
    let rows = if split { found.rows() } else { Vec::new() };
    ReviewHunk {
        number,
        standing: standing(standings, &found.key),
        key: found.key,
        header: found.header,
        old_start: found.old_start,
        old_len: found.old_len,
        new_start: found.new_start,
        new_len: found.new_len,
        lines: found.lines.into_iter().map(line).collect(),
        rows: rows.into_iter().map(pair).collect(),
    }
}

fn line(found: Line) -> ReviewLine {
    let kind = match found.kind {
        LineKind::Context => "context",
        LineKind::Removed => "removed",
        LineKind::Added => "added",
    };
    let mark = |(from, to)| ReviewMark { from, to };
    ReviewLine {
        kind: kind.to_owned(),
        text: found.text,
        lossy: found.lossy,
        old: found.old,
        new: found.new,
        at: found.at,
        no_newline: found.no_newline,
        marks: found.marks.into_iter().map(mark).collect(),
    }
}
