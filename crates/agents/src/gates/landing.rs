//! How a project wants work to land: the section `[landing]` of `godel.toml`.

use std::time::Duration;

use godel_model::JoinBy;
use serde::{Deserialize, Serialize};

use super::settings::{RoleName, Run, Span, TIMEOUT};

/// The most beads that are tried together.
pub const BATCH_MAX: u32 = 50;
const BATCH: u32 = 4;

/// How work lands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Landings {
    /// How it becomes part of the branch.
    pub how: JoinBy,
    /// How many beads are judged together at most; only merges are.
    pub batch: u32,
    /// Whether an agent repairs conflicts.
    pub repair: bool,
    /// The role of that agent; the one that is built in if it is not named.
    pub repairer: Option<String>,
    /// What must pass on the branch after work has landed; work that does not is taken back.
    pub after: Option<String>,
    /// How long that may take.
    pub after_timeout: Duration,
    /// Where the branch is pushed to after each landing.
    pub push: Option<String>,
}

impl Default for Landings {
    fn default() -> Self {
        Self {
            how: JoinBy::Merge,
            batch: BATCH,
            repair: true,
            repairer: None,
            after: None,
            after_timeout: TIMEOUT,
            push: None,
        }
    }
}

/// The section as it is written.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Section {
    how: JoinBy,
    batch: Option<Batch>,
    repair: Option<bool>,
    repairer: Option<RoleName>,
    after: Option<Run>,
    #[serde(alias = "after_timeout")]
    after_timeout: Option<Span>,
    push: Option<Remote>,
}

impl From<Section> for Landings {
    fn from(said: Section) -> Self {
        let usual = Self::default();
        Self {
            how: said.how,
            batch: said.batch.map_or(usual.batch, |batch| batch.0),
            repair: said.repair.unwrap_or(usual.repair),
            repairer: said.repairer.map(|role| role.0),
            after: said.after.map(|run| run.0),
            after_timeout: said.after_timeout.map_or(usual.after_timeout, |span| span.0),
            push: said.push.map(|remote| remote.0),
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "i64")]
struct Batch(u32);

impl TryFrom<i64> for Batch {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        let known = u32::try_from(number).ok().filter(|batch| (1..=BATCH_MAX).contains(batch));
        known.map(Self).ok_or_else(|| format!("from 1 to {BATCH_MAX} beads can land together"))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Remote(String);

impl TryFrom<String> for Remote {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // A name, never an address: an address could hold a password, and `ext::` runs programs.
        let known = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let good = (1..=100).contains(&text.len())
            && text.chars().all(known)
            && !text.starts_with(['-', '.', '/'])
            && !text.contains("..");
        if good {
            return Ok(Self(text));
        }
        Err("that cannot be the name of a remote, such as \"origin\"".to_owned())
    }
}
