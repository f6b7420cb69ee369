//! Saying and deciding something about a change.

use godel_app::Call;
use godel_git::{Changes, Decision, FileChange, LineKind, Lines, Part, Verdict};
use godel_model::{EventId, ProjectId, Reach, code};
use serde_json::json;
use tracing::instrument;
use uuid::Uuid;

use crate::desk::{Desk, refused};
use crate::doc::{COMMENTS_MAX, Comment, DECISIONS_MAX, Made, On, Review, Side};
use crate::look::Full;
use crate::{Error, Result, Reviews};

/// The most characters of a comment.
const COMMENT_MAX_CHARS: usize = 10_000;
/// How much of a line is kept with a comment.
const QUOTE_MAX_CHARS: usize = 500;
/// The most bytes of a hunk that a person wrote.
const EDIT_MAX_BYTES: usize = 256 * 1024;

/// Something to say.
#[derive(Debug, Clone, Default)]
pub struct NewComment {
    /// What.
    pub text: String,
    /// The file; none speaks about all of it.
    pub path: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The side that the line is on.
    pub side: Side,
    /// The comment that it answers.
    pub reply_to: Option<Uuid>,
    /// The commit that was looked at, if that matters.
    pub commit: Option<String>,
}

/// Which part of a change is meant.
#[derive(Debug, Clone, Default)]
pub struct Which {
    /// The key of a hunk or a file.
    pub key: Option<String>,
    /// The file, if no key is given.
    pub path: Option<String>,
    /// The number of the hunk in the file; 1 is the first. None means all of the file.
    pub hunk: Option<u32>,
    /// Some lines of the hunk only.
    pub lines: Option<Lines>,
}

/// What is decided.
#[derive(Debug, Clone)]
pub struct Decide {
    /// Whether it is accepted.
    pub accept: bool,
    /// About what; nothing means all that there is.
    pub parts: Vec<Which>,
    /// The commit that was looked at, if that matters.
    pub commit: Option<String>,
}

/// What a hunk is to be instead.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The hunk.
    pub part: Which,
    /// The text from its first line that differs to its last.
    pub text: String,
    /// The commit that was looked at, if that matters.
    pub commit: Option<String>,
}

/// Says something about a line, or about all of it.
///
/// # Errors
/// If the caller may not, or there is no such line.
#[instrument(level = "debug", name = "reviews.comment", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn comment(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    new: NewComment,
) -> Result<Comment> {
    call.may("review", "update", Reach::Own)?;
    if new.text.trim().is_empty() || new.text.chars().count() > COMMENT_MAX_CHARS {
        let why = format!("a comment has 1 to {COMMENT_MAX_CHARS} characters");
        return Err(Error::refused(code::INVALID_FIELD, why, "say it shorter"));
    }
    let desk = Desk::open(reviews, call, which).await?;
    desk.refuse_if_moved(new.commit.as_deref())?;
    let (_, head) = desk.commits()?;
    let answered = desk.review.comments.iter().find(|one| Some(one.id) == new.reply_to);
    if new.reply_to.is_some() && answered.is_none() {
        let hint = format!("`godel review show {}` lists them", desk.bead.id);
        return Err(refused("there is no such comment to answer".to_owned(), hint));
    }
    let on = match (&new.path, answered) {
        (Some(path), _) => Some(desk.line(path, new.line, new.side).await?),
        (None, Some(answered)) => answered.on.clone(),
        (None, None) => None,
    };
    let comment = Comment {
        id: reviews.fleet.app().mint.id::<EventId>().uuid(),
        by: call.actor.name.clone(),
        at: reviews.fleet.app().clock.now(),
        on,
        commit: head,
        text: new.text,
        // Threads are one level deep: who answers an answer answers what was said first.
        reply_to: answered.map(|one| one.reply_to.unwrap_or(one.id)),
        sent: None,
    };
    let told = json!({ "bead": desk.bead.id, "comment": comment.id });
    let kept = comment.clone();
    let work = move |review: &mut Review| {
        if review.comments.len() >= COMMENTS_MAX {
            return Err(refused(
                format!("the review has {COMMENTS_MAX} comments already"),
                "request changes, and let the agent mend what was said",
            ));
        }
        review.comments.push(kept.clone());
        Ok(())
    };
    desk.note("review:comment", told, work).await?;
    Ok(comment)
}

/// Accepts or rejects parts of a change.
///
/// # Errors
/// If the caller may not, or there is no such part.
#[instrument(level = "debug", name = "reviews.decide", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn decide(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    wanted: Decide,
) -> Result<Full> {
    call.may("review", "update", Reach::Own)?;
    let mut desk = Desk::open(reviews, call, which).await?;
    desk.refuse_if_moved(wanted.commit.as_deref())?;
    let changes = desk.changes().await?;
    let verdict = if wanted.accept { Verdict::Accepted } else { Verdict::Rejected };
    let mut made = Vec::new();
    if wanted.parts.is_empty() {
        made.extend(changes.parts().map(|part| part.decide(None, verdict.clone())));
    }
    for one in &wanted.parts {
        for part in find(&changes, one)? {
            made.push(part.decide(checked(&part, one.lines)?, verdict.clone()));
        }
    }
    desk.keep(made).await?;
    desk.full().await
}

/// Writes something else into a hunk; it becomes a commit of the person when it is applied.
///
/// # Errors
/// If the caller may not, there is no such hunk, or the text is too long.
#[instrument(level = "debug", name = "reviews.edit", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn edit(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    edit: Edit,
) -> Result<Full> {
    call.may("review", "update", Reach::Own)?;
    if edit.text.len() > EDIT_MAX_BYTES {
        let why = format!("an edited hunk has at most {EDIT_MAX_BYTES} bytes");
        return Err(Error::refused(code::INVALID_FIELD, why, "let an agent write so much"));
    }
    let mut desk = Desk::open(reviews, call, which).await?;
    desk.refuse_if_moved(edit.commit.as_deref())?;
    let changes = desk.changes().await?;
    let parts = find(&changes, &edit.part)?;
    let &[part @ Part::Hunk(..)] = parts.as_slice() else {
        let hint = "name one hunk of a text file, such as src/main.rs:2";
        return Err(refused("only one hunk can be edited at a time".to_owned(), hint));
    };
    desk.keep(vec![part.decide(None, Verdict::Edited(edit.text))]).await?;
    desk.full().await
}

/// Takes back what was decided last, or all that was decided about one part.
///
/// # Errors
/// If the caller may not, or nothing was decided.
#[instrument(level = "debug", name = "reviews.undo", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn undo(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    key: Option<String>,
) -> Result<Full> {
    call.may("review", "update", Reach::Own)?;
    let mut desk = Desk::open(reviews, call, which).await?;
    let told = json!({ "bead": desk.bead.id, "undone": true });
    let bead = desk.bead.id.clone();
    let work = move |review: &mut Review| {
        let last = review.decisions.last().map(|made| made.batch);
        let before = review.decisions.len();
        review.decisions.retain(|made| match &key {
            Some(key) => made.decision.key != *key,
            None => Some(made.batch) != last,
        });
        if review.decisions.len() < before {
            return Ok(());
        }
        let hint = format!("`godel review show {bead}` shows what was decided");
        Err(refused("nothing was decided that could be taken back".to_owned(), hint))
    };
    desk.review = desk.note("review:decided", told, work).await?;
    desk.full().await
}

impl Desk<'_> {
    /// Finds the line that somebody speaks about.
    async fn line(&self, path: &str, line: Option<u32>, side: Side) -> Result<On> {
        let changes = self.changes().await?;
        let file = changes.files.iter().find(|file| file.path == path);
        let missing = |what: String| {
            let hint = format!("`godel review diff {}` shows the lines", self.bead.id);
            refused(what, hint)
        };
        let file = file.ok_or_else(|| missing(format!("{path:?} is not changed")))?;
        let found = match line {
            Some(line) => said(file, line, side).map(|text| (line, text)),
            None => first(file, side),
        };
        let (line, text) = match (found, line) {
            (Some(found), _) => found,
            // A line that the change does not show: it is as it was.
            (None, Some(line)) => {
                let text = self.quoted(&changes, file, (line, side)).await?;
                (line, text.ok_or_else(|| missing(format!("{path:?} has no line {line}")))?)
            }
            (None, None) => (0, String::new()),
        };
        let quote = text.trim_end_matches('\r').chars().take(QUOTE_MAX_CHARS).collect();
        Ok(On { path: path.to_owned(), side, line, quote })
    }

    async fn quoted(
        &self,
        changes: &Changes,
        file: &FileChange,
        (line, side): (u32, Side),
    ) -> Result<Option<String>> {
        let (commit, path) = match side {
            Side::Old => (&changes.base, file.old_path.as_ref().unwrap_or(&file.path)),
            Side::New => (&changes.head, &file.path),
        };
        let (commit, path) = (commit.clone(), path.clone());
        let read = move |bench: &godel_git::Workbench| bench.file_at(&commit, &path);
        let text = self.fleet.at_bench(self.folder.clone(), read).await?.unwrap_or_default();
        let at = usize::try_from(line).unwrap_or(usize::MAX).checked_sub(1);
        Ok(at.and_then(|at| text.lines().nth(at)).map(ToOwned::to_owned))
    }

    /// Keeps decisions that were made together.
    async fn keep(&mut self, made: Vec<Decision>) -> Result<()> {
        if made.is_empty() {
            let hint = format!("`godel review diff {}` shows what there is", self.bead.id);
            return Err(refused("there is nothing to decide".to_owned(), hint));
        }
        let (by, at) = (self.call.actor.name.clone(), self.fleet.app().clock.now());
        let told = json!({ "bead": self.bead.id, "parts": made.len(), "by": by });
        let work = move |review: &mut Review| {
            let batch = review.decisions.last().map_or(1, |last| last.batch.saturating_add(1));
            review.decisions.extend(made.iter().map(|decision| Made {
                decision: decision.clone(),
                by: by.clone(),
                at,
                batch,
            }));
            shorten(&mut review.decisions);
            if review.decisions.len() <= DECISIONS_MAX {
                return Ok(());
            }
            let why = format!("the review has {DECISIONS_MAX} decisions already");
            Err(refused(why, "decide about whole files, or apply what was decided"))
        };
        self.review = self.note("review:decided", told, work).await?;
        Ok(())
    }
}

/// Forgets what was decided otherwise later, once there is a lot.
fn shorten(decisions: &mut Vec<Made>) {
    if decisions.len() <= DECISIONS_MAX / 2 {
        return;
    }
    let mut settled = std::collections::HashSet::new();
    decisions.reverse();
    decisions.retain(|made| {
        let known = settled.contains(&made.decision.key);
        if made.decision.lines.is_none() {
            settled.insert(made.decision.key.clone());
        }
        !known
    });
    decisions.reverse();
}

/// Finds the parts that somebody means.
fn find<'a>(changes: &'a Changes, which: &Which) -> Result<Vec<Part<'a>>> {
    let missing = |what: String| {
        refused(what, "`godel review diff BEAD` shows the files and the numbers of their hunks")
    };
    if let Some(key) = &which.key {
        let part = changes.parts().find(|part| part.key() == key);
        let part = part.ok_or_else(|| missing(format!("no hunk has the key {key:?} now")))?;
        return Ok(vec![part]);
    }
    let path = which.path.as_deref().unwrap_or_default();
    let file = changes.files.iter().find(|file| file.path == path);
    let file = file.ok_or_else(|| missing(format!("{path:?} is not changed")))?;
    let Some(number) = which.hunk else { return Ok(file.parts().collect()) };
    let at = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
    let part = match (file.entire, &file.key) {
        (true, Some(key)) if number == 1 => Some(Part::File(file, key)),
        _ => at.and_then(|at| file.hunks.get(at)).map(|hunk| Part::Hunk(file, hunk)),
    };
    Ok(vec![part.ok_or_else(|| missing(format!("{path:?} has no hunk {number}")))?])
}

/// Refuses lines that a part does not have.
fn checked(part: &Part<'_>, lines: Option<Lines>) -> Result<Option<Lines>> {
    let Some(lines) = lines else { return Ok(None) };
    let most = match part {
        Part::Hunk(_, hunk) => hunk.length(),
        Part::File(..) => 0,
    };
    if lines.from >= 1 && lines.from <= lines.to && lines.to <= most {
        return Ok(Some(lines));
    }
    let path = &part.file().path;
    let why = format!("{path:?} has no lines {} to {} there", lines.from, lines.to);
    let hint = match most {
        0 => "this is decided as a whole".to_owned(),
        most => format!("the hunk has the lines 1 to {most}, from the first that differs"),
    };
    Err(Error::refused(code::INVALID_FIELD, why, hint))
}

/// Returns what a line of a change says.
fn said(file: &FileChange, number: u32, side: Side) -> Option<String> {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let mut found = lines.filter(|line| match side {
        Side::Old => line.old == Some(number),
        Side::New => line.new == Some(number),
    });
    found.next().map(|line| line.text.clone())
}

/// Returns the first line that differs, where no line was named.
fn first(file: &FileChange, side: Side) -> Option<(u32, String)> {
    let kind = if side == Side::Old { LineKind::Removed } else { LineKind::Added };
    let mut lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let line = lines.find(|line| line.kind == kind)?;
    Some((line.new.or(line.old)?, line.text.clone()))
}
