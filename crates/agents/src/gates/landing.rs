//! How a project wants work to land: the section `[landing]` of `godel.toml`.

use std::time::Duration;

use godel_model::{ForgeKind, JoinBy};
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
    /// Where the branch is pushed to after each landing; with pull requests, where they are.
    pub push: Option<String>,
    /// How work lands by pull requests, if it does.
    pub pulls: Option<Pulls>,
    /// Whether the beads of a convoy land as one, unless it is said otherwise when it is started.
    pub together: bool,
}

/// How work lands by pull requests on a forge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pulls {
    /// Which forge it is; told by the remote if it is not said.
    pub forge: Option<ForgeKind>,
    /// Its address; that of the remote if it is not said.
    pub url: Option<String>,
    /// Whether they are merged without a person, when the forge's checks are green.
    pub merge: bool,
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
            pulls: None,
            together: false,
        }
    }
}

/// The section, understood.
#[derive(Default, Deserialize)]
#[serde(try_from = "Written")]
pub(super) struct Section(Landings);

impl From<Section> for Landings {
    fn from(section: Section) -> Self {
        section.0
    }
}

/// How finished work gets into its branch.
#[derive(Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Via {
    #[default]
    Branch,
    PullRequest,
}

/// The section as it is written.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    how: JoinBy,
    batch: Option<Batch>,
    repair: Option<bool>,
    repairer: Option<RoleName>,
    after: Option<Run>,
    #[serde(alias = "after_timeout")]
    after_timeout: Option<Span>,
    push: Option<Remote>,
    via: Via,
    forge: Option<ForgeKind>,
    #[serde(alias = "forge_url")]
    forge_url: Option<Address>,
    merge: Option<bool>,
    together: bool,
}

impl Written {
    /// Puts together what is said about pull requests.
    fn pulls(&self) -> Result<Option<Pulls>, String> {
        let alone = self.forge.is_some() || self.forge_url.is_some() || self.merge.is_some();
        match self.via {
            Via::Branch if alone => Err("`forge`, `forge-url` and `merge` are for \
                `via = \"pull-request\"`"
                .to_owned()),
            Via::Branch => Ok(None),
            Via::PullRequest if self.push.is_none() => {
                Err("pull requests need a remote: `push = \"origin\"`".to_owned())
            }
            Via::PullRequest if self.after.is_some() => {
                Err("`after` does not go with pull requests: what is merged on a forge cannot be \
                     taken back here, so let a check of the forge do it"
                    .to_owned())
            }
            Via::PullRequest => Ok(Some(Pulls {
                forge: self.forge,
                url: self.forge_url.as_ref().map(|address| address.0.clone()),
                merge: self.merge.unwrap_or(false),
            })),
        }
    }
}

impl TryFrom<Written> for Section {
    type Error = String;

    fn try_from(said: Written) -> Result<Self, String> {
        let (usual, pulls) = (Landings::default(), said.pulls()?);
        Ok(Self(Landings {
            how: said.how,
            batch: said.batch.map_or(usual.batch, |batch| batch.0),
            repair: said.repair.unwrap_or(usual.repair),
            repairer: said.repairer.map(|role| role.0),
            after: said.after.map(|run| run.0),
            after_timeout: said.after_timeout.map_or(usual.after_timeout, |span| span.0),
            push: said.push.map(|remote| remote.0),
            pulls,
            together: said.together,
        }))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Address(String);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let plain = text.len() <= 500 && text.chars().all(|c| c.is_ascii_graphic());
        if plain && (text.starts_with("https://") || text.starts_with("http://")) {
            return Ok(Self(text));
        }
        Err("that cannot be the address of a forge, such as \"https://git.example.com\"".to_owned())
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
