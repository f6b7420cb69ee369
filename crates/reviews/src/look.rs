//! Looking at reviews.

use std::collections::HashMap;

use godel_app::Call;
use godel_fleet::{Agent, paper};
use godel_git::{Bound, Changes, DiffStat, FileChange, LineKind, Standing, Takeover, Tally};
use godel_model::{BeadStatus, ProjectId, Reach};
use jiff::Timestamp;
use serde_json::Value;
use tracing::instrument;

use crate::desk::{Desk, refused};
use crate::doc::{Approval, Comment, Made, On, Side};
use crate::size::Size;
use crate::{Result, Reviews};

/// How many files one page of a diff has at most.
const FILES_MAX: usize = 1_000;
/// How many agents of a bead are looked at.
const AGENTS_MAX: usize = 100;

/// A review at a glance.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The bead.
    pub bead: String,
    /// The project.
    pub project: ProjectId,
    /// The title of the bead.
    pub title: String,
    /// How far the bead has come.
    pub status: BeadStatus,
    /// The branch that the work is for.
    pub target: String,
    /// Where the work began, and where it is.
    pub span: Option<(String, String)>,
    /// How large it is.
    pub size: Size,
    /// Whether the gates passed, if they were run.
    pub gates: Option<bool>,
    /// The word that this commit may land.
    pub approval: Option<Approval>,
    /// How many comments the agent was not told of yet.
    pub pending: usize,
    /// How often changes were asked for.
    pub rounds: u32,
    /// Since when it waits.
    pub since: Timestamp,
}

/// What an agent said that looked first.
#[derive(Debug, Clone)]
pub struct FirstPass {
    /// Its name.
    pub agent: String,
    /// Whether it may land, as it thinks; nothing while it looks.
    pub approves: Option<bool>,
    /// Its reasons.
    pub summary: Option<String>,
}

/// Where a comment is now.
#[derive(Debug, Clone)]
pub struct Spot {
    /// The comment.
    pub comment: Comment,
    /// The line now; nothing if it is not in the change any more.
    pub line: Option<u32>,
}

/// A review with all that belongs to it.
#[derive(Debug, Clone)]
pub struct Full {
    /// At a glance.
    pub summary: Summary,
    /// Who has to agree: `person`, `agent` or `auto`.
    pub wants: &'static str,
    /// What was decided, and whether that is still there.
    pub decisions: Vec<(Made, Bound)>,
    /// How many parts stand how.
    pub tally: Tally,
    /// What was said.
    pub comments: Vec<Spot>,
    /// What an agent said that looked first.
    pub first_pass: Option<FirstPass>,
    /// Why it cannot be approved now.
    pub blocked: Vec<String>,
    /// The commit that applied decisions, if the branch is at it.
    pub applied: Option<Takeover>,
}

/// Which files of a change are wanted.
#[derive(Debug, Clone, Default)]
pub struct Want {
    /// This file only.
    pub path: Option<String>,
    /// From the file of this number; 0 is the first.
    pub from: usize,
    /// How many at most.
    pub limit: usize,
}

/// Files of a change.
#[derive(Debug, Clone)]
pub struct Diff {
    /// Where the work began.
    pub base: String,
    /// Where it is.
    pub head: String,
    /// The files, each with its number; 0 is the first of all.
    pub files: Vec<(usize, FileChange)>,
    /// How many files there are.
    pub total: usize,
    /// The number of the next file, if there is one.
    pub next: Option<usize>,
    /// Whether lines of some files are not shown because they are too many.
    pub cut: bool,
    /// How each part stands, by its key.
    pub standings: HashMap<String, Standing>,
    /// How many stand how.
    pub tally: Tally,
    /// What was said about these files.
    pub comments: Vec<Spot>,
}

/// Shows the review of a bead.
///
/// # Errors
/// If the caller may not, or there is no such bead.
#[instrument(level = "debug", name = "reviews.show", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn show(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
) -> Result<Full> {
    call.may("review", "read", Reach::Team)?;
    Desk::open(reviews, call, which).await?.full().await
}

/// Reads what the work of a bead changes, file by file.
///
/// # Errors
/// If the caller may not, or there is no work.
#[instrument(level = "debug", name = "reviews.diff", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn diff(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    want: Want,
) -> Result<Diff> {
    call.may("review", "read", Reach::Team)?;
    let desk = Desk::open(reviews, call, which).await?;
    let changes = desk.changes().await?;
    let decided = desk.review.decided();
    let (standings, tally) = (changes.standings(&decided), changes.tally(&decided));
    let mut comments = spots(&desk.review.comments, Some(&changes));
    let total = changes.files.len();
    let limit = want.limit.clamp(1, FILES_MAX);
    let wanted = |file: &FileChange| want.path.as_ref().is_none_or(|path| *path == file.path);
    let found = changes.files.iter().enumerate().skip(want.from).filter(|(_, file)| wanted(file));
    // One more tells whether there is a next page.
    let found = found.take(limit + 1);
    let mut files: Vec<(usize, FileChange)> = found.map(|(at, file)| (at, file.clone())).collect();
    let (base, head, cut) = (changes.base.clone(), changes.head.clone(), changes.cut);
    if let Some(path) = want.path.as_ref().filter(|_| files.is_empty()) {
        return Err(refused(
            format!("{path:?} is not changed by bead {}", desk.bead.id),
            format!("`godel review diff {}` shows all files", desk.bead.id),
        ));
    }
    let next = files.get(limit).map(|(at, _)| *at);
    files.truncate(limit);
    files.iter_mut().for_each(|(_, file)| file.mark_words());
    let shown = |path: &str| files.iter().any(|(_, file)| file.path == path);
    comments.retain(|spot| spot.comment.on.as_ref().is_none_or(|on| shown(&on.path)));
    Ok(Diff { base, head, total, next, cut, standings, tally, comments, files })
}

impl Desk<'_> {
    /// Sums it up, with how large the work is.
    pub(crate) fn summed_up(&self, size: Size) -> Summary {
        let head = self.span.as_ref().map(|(_, head)| head.as_str());
        let of_head = |verdict: &&Value| verdict.get("commit").and_then(Value::as_str) == head;
        let passed = |verdict: &Value| verdict.get("passed").and_then(Value::as_bool) == Some(true);
        let mut verdicts = self.bead.verdicts.iter().filter(of_head).map(passed).peekable();
        let judged = head.is_some() && verdicts.peek().is_some();
        Summary {
            bead: self.bead.id.clone(),
            project: self.project,
            title: self.bead.title.clone(),
            status: self.bead.status,
            target: self.target.clone(),
            span: self.span.clone(),
            size,
            gates: judged.then(|| verdicts.all(|passed| passed)),
            approval: head.and_then(|head| self.review.approves(head)).cloned(),
            pending: self.review.pending().count(),
            rounds: self.review.rounds,
            // A word said about it does not send it to the end of the queue.
            since: self.bead.status_since,
        }
    }

    /// Shows all that belongs to the review.
    pub(crate) async fn full(&self) -> Result<Full> {
        let changes = match self.span {
            Some(_) => Some(self.changes().await?),
            None => None,
        };
        let changes = changes.as_deref();
        let decided = self.review.decided();
        let gone = || vec![Bound::Gone; decided.len()];
        let bound = changes.map_or_else(gone, |changes| changes.bind(&decided));
        let tally = changes.map(|changes| changes.tally(&decided)).unwrap_or_default();
        let size = changes.map(|changes| Size::of(&counted(changes))).unwrap_or_default();
        Ok(Full {
            summary: self.summed_up(size),
            wants: self.wanted.review.as_str(),
            decisions: self.review.decisions.iter().cloned().zip(bound).collect(),
            comments: spots(&self.review.comments, changes),
            first_pass: self.first_pass().await?,
            blocked: self.blocked(changes),
            applied: self.takeover().await?,
            tally,
        })
    }

    /// Tells why the work cannot be approved as it is.
    pub(crate) fn blocked(&self, changes: Option<&Changes>) -> Vec<String> {
        let mut why = Vec::new();
        if self.bead.status != BeadStatus::Review {
            why.push(format!("bead {} is {} and not in review", self.bead.id, self.bead.status));
        }
        let Some(changes) = changes else {
            why.push("there is no work to look at".to_owned());
            return why;
        };
        let standings = changes.standings(&self.review.decided());
        let count =
            |wanted: &[Standing]| standings.values().filter(|one| wanted.contains(one)).count();
        let rejected = count(&[Standing::Rejected, Standing::Mixed]);
        if rejected > 0 {
            why.push(format!(
                "{} rejected: apply the decisions, or request changes",
                hunks(rejected)
            ));
        }
        let edited = count(&[Standing::Edited]);
        if edited > 0 {
            why.push(format!("{} edited: apply the decisions", hunks(edited)));
        }
        why
    }

    async fn first_pass(&self) -> Result<Option<FirstPass>> {
        let Some((_, head)) = self.span.clone() else { return Ok(None) };
        let owner = Agent::owner_of(self.project, &self.bead.id);
        let agents = paper::look(self.fleet.app(), self.call.actor.tenant, move |tx| {
            paper::of::<Agent>(tx, &owner, None, AGENTS_MAX)
        });
        let judge = agents.await?.into_iter().find(|one| one.judges.as_ref() == Some(&head));
        Ok(judge.map(|Agent { label, approves, summary, .. }| {
            let summary = summary.filter(|_| approves.is_some());
            FirstPass { agent: label, approves, summary }
        }))
    }
}

fn hunks(count: usize) -> String {
    if count == 1 { "1 hunk is".to_owned() } else { format!("{count} hunks are") }
}

/// Adds up what a change has.
fn counted(changes: &Changes) -> DiffStat {
    let sum =
        |of: fn(&FileChange) -> u32| changes.files.iter().map(|file| u64::from(of(file))).sum();
    DiffStat {
        files: changes.files.len(),
        added: sum(|file| file.added),
        removed: sum(|file| file.removed),
        paths: changes.files.iter().map(|file| file.path.clone()).collect(),
    }
}

/// Finds the lines of comments again.
fn spots(comments: &[Comment], changes: Option<&Changes>) -> Vec<Spot> {
    let place = |comment: &Comment| {
        let on = comment.on.as_ref()?;
        let changes = changes?;
        if changes.head == comment.commit {
            return Some(on.line);
        }
        let file = changes.files.iter().find(|file| file.path == on.path)?;
        nearest(file, on)
    };
    let spot = |comment: &Comment| Spot { line: place(comment), comment: comment.clone() };
    comments.iter().map(spot).collect()
}

/// Finds the line that says the same and is nearest.
fn nearest(file: &FileChange, on: &On) -> Option<u32> {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let numbers = lines.filter(|line| line.text.trim_end_matches('\r') == on.quote).filter_map(
        |line| match (on.side, line.kind) {
            (Side::Old, LineKind::Added) | (Side::New, LineKind::Removed) => None,
            (Side::Old, _) => line.old,
            (Side::New, _) => line.new,
        },
    );
    numbers.min_by_key(|number| number.abs_diff(on.line))
}
