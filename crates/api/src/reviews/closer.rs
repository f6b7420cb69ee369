//! Looking closer at a review: lines outside of its hunks, what was applied, and what it conflicts with.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::is_false;

/// Lines of a file as it was, or as it is, that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewFileLines {
    /// The name of the file on that side.
    pub path: String,
    /// `old` or `new`.
    pub side: String,
    /// The commit that they are of.
    pub commit: String,
    /// How many lines the file has.
    pub total: u32,
    /// The lines; fewer than were asked for if the file ends, or they are very long.
    pub lines: Vec<ReviewFileLine>,
    /// The line to go on with; none if the last one that was asked for is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFileLine {
    /// Its number; 1 is the first.
    pub number: u32,
    /// What it says, without its end.
    pub text: String,
    /// Whether some of it is no text and shown as replacement characters.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lossy: bool,
    /// Whether the file ends with it, without a line break.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_newline: bool,
}

/// Where the work conflicts with the branch that it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewConflicts {
    /// The branch that the work is for.
    pub target: String,
    /// The commit that the branch is at.
    pub target_commit: String,
    /// The commit of the work.
    pub commit: String,
    /// The files in conflict, 100 at most; none if it can be merged.
    pub files: Vec<ReviewConflict>,
    /// Whether there are more files.
    pub cut: bool,
}

/// A file in conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewConflict {
    /// The path.
    pub path: String,
    /// What is the matter with it, in a sentence.
    pub why: String,
    /// The places in which it conflicts; none if it has no lines to compare.
    pub spots: Vec<ReviewConflictSpot>,
    /// Whether there are more places.
    pub cut: bool,
}

/// A place in which a file conflicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewConflictSpot {
    /// The lines above it, on both sides.
    pub above: Vec<String>,
    /// What the branch says.
    pub target: Vec<String>,
    /// What both said before.
    pub base: Vec<String>,
    /// What the work says.
    pub work: Vec<String>,
    /// The lines below it, on both sides.
    pub below: Vec<String>,
    /// Whether a side has more lines.
    pub cut: bool,
}

/// What came of applying decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewApplied {
    /// The new commit of the branch; none if all was accepted as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The id of the accepted files.
    pub tree: String,
    /// The files in which it conflicts with the target.
    pub conflicts: Vec<String>,
}

/// A commit that applied decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewTakeover {
    /// The commit.
    pub commit: String,
    /// The commit before.
    pub before: String,
    /// Who applied them.
    pub by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
}
