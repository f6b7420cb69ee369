//! Reviews on the wire.

mod closer;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Landing;

pub use closer::{
    ReviewApplied, ReviewConflict, ReviewConflictSpot, ReviewConflicts, ReviewFileLine,
    ReviewFileLines, ReviewTakeover,
};

/// A review at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRow {
    /// The bead.
    pub bead: String,
    /// The project.
    pub project_id: Uuid,
    /// The title of the bead.
    pub title: String,
    /// The status of the bead; `review` while it waits.
    pub status: String,
    /// The branch that the work is for.
    pub target: String,
    /// The commit where the work began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit where the work is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How many files it changes.
    pub files: usize,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// What to look at with care, such as `large` or `security`.
    pub risks: Vec<String>,
    /// Whether the gates passed, if they were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<bool>,
    /// The word that this commit may land.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ReviewApproval>,
    /// How many comments the agent was not told of yet.
    pub pending: usize,
    /// How often changes were asked for.
    pub rounds: u32,
    /// Since when it waits.
    #[schema(value_type = String, format = DateTime)]
    pub waiting_since: jiff::Timestamp,
}

/// That a commit may land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewApproval {
    /// The commit; another one needs another word.
    pub commit: String,
    /// Who said so.
    pub by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The review of a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// At a glance.
    #[serde(flatten)]
    pub row: ReviewRow,
    /// Who has to agree: `person`, `agent` or `auto`.
    pub wants: String,
    /// How many parts stand how.
    pub tally: ReviewTally,
    /// What was decided, the oldest first; a later one counts more.
    pub decisions: Vec<ReviewDecision>,
    /// What was said, the oldest first.
    pub comments: Vec<ReviewComment>,
    /// What an agent said that looked first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_pass: Option<ReviewFirstPass>,
    /// Why it cannot be approved now.
    pub blocked: Vec<String>,
    /// The commit that applied decisions, while it is the last of the branch and can be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<ReviewTakeover>,
}

/// How many parts of a change stand how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewTally {
    /// Accepted, as they are or edited.
    pub accepted: u32,
    /// Rejected, all or some of their lines.
    pub rejected: u32,
    /// Not decided.
    pub undecided: u32,
}

/// Lines of a hunk, from the first that differs; 1 is the first, and both ends are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewLines {
    /// The first.
    #[schema(minimum = 1)]
    pub from: u32,
    /// The last.
    #[schema(minimum = 1)]
    pub to: u32,
}

/// What was decided about one part of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDecision {
    /// The file.
    pub path: String,
    /// The key of the hunk or the file.
    pub key: String,
    /// Some lines only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ReviewLines>,
    /// `accepted`, `rejected` or `edited`.
    pub verdict: String,
    /// What a person wrote instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `bound`: it is still there; `changed`: it has changed since; `gone`: it is not there any more.
    pub bound: String,
    /// Who decided.
    pub by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
}

/// What somebody said in a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewComment {
    /// The id.
    pub id: Uuid,
    /// Who.
    pub by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
    /// What.
    pub text: String,
    /// The file; none speaks about all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `old` or `new`: the side that the line is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// The line now; none if it is not in the change any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the line said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The commit that was looked at.
    pub commit: String,
    /// The comment that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Uuid>,
    /// The round in which the agent was told; none if it was not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u32>,
}

/// What an agent said that looked first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewFirstPass {
    /// Its name.
    pub agent: String,
    /// Whether it may land, as it thinks; none while it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approves: Option<bool>,
    /// Its reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Files of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewDiff {
    /// The commit where the work began.
    pub base: String,
    /// The commit where it is.
    pub head: String,
    /// How many files the change has.
    pub total: usize,
    /// The number of the next file, for `from`; none if these are the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Whether lines of some files are not shown because they are too many.
    pub cut: bool,
    /// How many parts stand how.
    pub tally: ReviewTally,
    /// The files.
    pub files: Vec<ReviewFile>,
    /// What was said about them.
    pub comments: Vec<ReviewComment>,
}

/// A file on one side of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewSide {
    /// The mode, such as `100644`; `120000` is a link and `160000` another repository.
    pub mode: String,
    /// The id of the content.
    pub id: String,
    /// How many bytes it has; told where the lines are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A file that a change is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFile {
    /// Its number in the change; 0 is the first.
    pub number: usize,
    /// The path.
    pub path: String,
    /// The path before, if it was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// `added`, `deleted`, `modified`, `renamed`, `copied`, `mode_changed` or `type_changed`.
    pub status: String,
    /// How it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<ReviewSide>,
    /// How it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<ReviewSide>,
    /// Whether it has no lines.
    pub binary: bool,
    /// Whether a program wrote it, such as a lock file.
    pub generated: bool,
    /// Whether its lines are not shown because they are too many.
    pub cut: bool,
    /// Whether it can only be decided as a whole.
    pub entire: bool,
    /// The key of what is decided as a whole: its name, its mode, or all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How that stands: `undecided`, `accepted` or `rejected`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// How many lines are new.
    pub added: u32,
    /// How many lines are gone.
    pub removed: u32,
    /// The places that differ.
    pub hunks: Vec<ReviewHunk>,
}

/// A place that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewHunk {
    /// Its number in the file; 1 is the first.
    pub number: usize,
    /// Stays the same when the hunk only moves.
    pub key: String,
    /// `undecided`, `accepted`, `rejected`, `mixed` or `edited`.
    pub standing: String,
    /// What it is part of, such as the line that begins a function.
    pub header: String,
    /// Its first line before.
    pub old_start: u32,
    /// How many lines it had.
    pub old_len: u32,
    /// Its first line now.
    pub new_start: u32,
    /// How many lines it has.
    pub new_len: u32,
    /// The lines, one below the other.
    pub lines: Vec<ReviewLine>,
    /// The same side by side, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<ReviewPair>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewLine {
    /// `context`, `removed` or `added`.
    pub kind: String,
    /// What it says, without its end.
    pub text: String,
    /// Whether some of it is no text and shown as replacement characters.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lossy: bool,
    /// Its number before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// Its number now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    /// Its place in the hunk, from the first line that differs; for decisions about some lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u32>,
    /// Whether the file ends with it, without a line break.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_newline: bool,
    /// The parts of the text that differ from the line it stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<ReviewMark>,
}

/// Two lines beside each other, by their places in the hunk's `lines`; 0 is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewPair {
    /// On the left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// On the right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
}

/// A part of a line, in bytes of its UTF-8 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewMark {
    /// Where it begins.
    pub from: u32,
    /// Where it ends; the byte there is not part of it.
    pub to: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Something to say in a review.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewReviewComment {
    /// What.
    #[schema(min_length = 1, max_length = 10_000)]
    pub text: String,
    /// The file; without one, all of it is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line; without one, the first that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `new`, unless `old` is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// The comment that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Uuid>,
    /// The commit that was looked at; refused if the work is another by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Which part of a change is meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewPart {
    /// The key of a hunk or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The file, if no key is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of the hunk in the file; 1 is the first. Without one, all of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub hunk: Option<u32>,
    /// Some lines of the hunk only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ReviewLines>,
}

/// What is decided.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideReview {
    /// `accepted` or `rejected`.
    pub verdict: String,
    /// About these parts.
    #[serde(default)]
    #[schema(max_items = 1_000)]
    pub parts: Vec<ReviewPart>,
    /// About all that there is; then no parts are named.
    #[serde(default)]
    pub all: bool,
    /// The commit that was looked at; refused if the work is another by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What a hunk is to be instead.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditReview {
    /// The hunk.
    pub part: ReviewPart,
    /// The text from its first line that differs to its last.
    #[schema(max_length = 262_144)]
    pub text: String,
    /// The commit that was looked at; refused if the work is another by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// How decisions are applied.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplyReview {
    /// What becomes of what is not decided: `keep` or `leave_out`; refused without if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
    /// The commit that was looked at; refused if the work is another by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A person's word that work may land.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApproveReview {
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1_000)]
    pub note: Option<String>,
    /// Whether it stays where it is, and does not land at once.
    #[serde(default)]
    pub no_land: bool,
    /// The commit that was looked at; refused if the work is another by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What came of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewApproved {
    /// The approval.
    pub approval: ReviewApproval,
    /// How it landed, if it was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
}

/// A person's wish for another round.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestReviewChanges {
    /// What to say besides the comments and what was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 10_000)]
    pub text: Option<String>,
    /// Whether no agent begins at once.
    #[serde(default)]
    pub no_agent: bool,
}

/// What came of asking for changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewRequested {
    /// What the agent is told.
    pub message: String,
    /// The round that begins.
    pub round: u32,
    /// The agent that began, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}
