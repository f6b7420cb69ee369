//! What Godel wants of a forge, whichever it is.

use async_trait::async_trait;
use godel_model::JoinBy;

use crate::error::Result;

/// The most characters of a title.
pub(crate) const TITLE_MAX_CHARS: usize = 250;
/// The most characters of a body or a comment.
pub(crate) const BODY_MAX_CHARS: usize = 60_000;

/// The most characters of an address that is believed.
pub(crate) const URL_MAX_CHARS: usize = 2_000;
/// The most characters of the name of a check, and the most checks that are named.
pub(crate) const CHECK_MAX_CHARS: usize = 100;
pub(crate) const CHECKS_MAX: usize = 10;

/// What became of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It waits.
    Open,
    /// Its work is in the branch.
    Merged,
    /// Somebody closed it, and its work is not in the branch.
    Closed,
}

/// A branch that is to be merged into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// The branch with the work.
    pub branch: &'a str,
    /// The branch that it is for.
    pub base: &'a str,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Its number in the repository.
    pub number: u64,
    /// Where people look at it.
    pub url: String,
    /// What became of it.
    pub standing: Standing,
    /// Whether it says of itself that it is not ready.
    pub draft: bool,
    /// The last commit of its branch.
    pub head: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// The commit of the branch that has it, once it is merged.
    pub merged_as: Option<String>,
}

/// Whether a pull request can be merged as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mergeable {
    /// It can.
    Yes,
    /// It conflicts with its branch.
    Conflict,
    /// The forge's own rules are against it.
    Blocked(String),
    /// The forge does not know yet.
    Unknown,
}

/// What the forge's checks say about a commit, all together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checks {
    /// There are none.
    None,
    /// Some have not ended.
    Pending,
    /// All passed.
    Passed,
    /// These failed.
    Failed(Vec<String>),
}

/// What those said who looked at it on the forge, all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody said anything that counts.
    None,
    /// Somebody approved it, and nobody is against it.
    Approved,
    /// Somebody wants it changed.
    ChangesRequested,
}

/// All that is to be known of a pull request at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The pull request.
    pub pull: Pull,
    /// Whether it can be merged.
    pub mergeable: Mergeable,
    /// What the checks say.
    pub checks: Checks,
    /// What people say.
    pub verdict: Verdict,
}

/// A pull request that is to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewPull<'a> {
    /// From where to where.
    pub head: Head<'a>,
    /// Its title.
    pub title: &'a str,
    /// Its text.
    pub body: &'a str,
}

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merging<'a> {
    /// How it becomes part of the branch; GitLab's own project decides between merge and rebase.
    pub how: JoinBy,
    /// The commit that its branch must be at.
    pub head: &'a str,
    /// The first line of the commit.
    pub title: &'a str,
    /// The rest of it.
    pub body: &'a str,
}

/// A forge, and one repository on it.
#[async_trait]
pub trait Forge: Send + Sync {
    /// Lists pull requests from one branch to another, whatever became of them, the newest first.
    async fn find(&self, head: Head<'_>) -> Result<Vec<Pull>>;

    /// Opens a pull request; refused if one is open for the same branches.
    async fn open(&self, new: NewPull<'_>) -> Result<Pull>;

    /// Changes title and text of a pull request.
    async fn edit(&self, number: u64, title: &str, body: &str) -> Result<Pull>;

    /// Looks at a pull request.
    async fn look(&self, number: u64) -> Result<Look>;

    /// Says something under a pull request.
    async fn comment(&self, number: u64, text: &str) -> Result<()>;

    /// Merges a pull request if its branch is at the commit that is given.
    async fn merge(&self, number: u64, merging: Merging<'_>) -> Result<()>;

    /// Closes a pull request without merging it.
    async fn close(&self, number: u64) -> Result<()>;
}

/// Tells whether a text can be the id of a commit; it becomes part of an address, and of a command of git.
pub(crate) fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Cuts a text to so many characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}
