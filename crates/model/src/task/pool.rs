//! Pools: where tasks wait, and what workers of them can do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Invalid, WorkerId, code};

const WORD_MAX_CHARS: usize = 64;
const CAPABILITIES_MAX: usize = 16;

/// Tells whether a text is one plain word: letters, digits and `. _ -`.
fn is_word(text: &str) -> bool {
    (1..=WORD_MAX_CHARS).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte)
        })
}

macro_rules! word {
    ($(#[$doc:meta])+ $name:ident, $what:literal) => {
        $(#[$doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns it as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Takes text that was checked before it was stored.
            pub fn from_stored(text: String) -> Self {
                Self(text)
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                if is_word(text) {
                    return Ok(Self(text.to_owned()));
                }
                let why = concat!($what, " must be 1 to 64 lower case letters, digits and . _ -");
                Err(Invalid::new(code::INVALID_NAME, why))
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

word! {
    /// The name of a pool.
    PoolName, "the name of a pool"
}
word! {
    /// Something that a task needs its worker to be able to do.
    Capability, "a capability"
}

impl Capability {
    /// Returns what only the agent or worker of a name is able to: to be it.
    ///
    /// # Errors
    /// If the name cannot be part of a capability.
    pub fn of_agent(name: &str) -> Result<Self, Invalid> {
        format!("agent.{name}").parse()
    }
}

impl Default for PoolName {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

/// The line in which a task waits: its pool and what it needs, as one text.
///
/// All tasks of a line can be done by the same workers, so a worker looks only at the heads of the
/// lines that are open to it, however many tasks wait that it could not do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(String);

impl Lane {
    /// Returns the line for tasks that need these capabilities.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(pool: &PoolName, needs: &BTreeSet<Capability>) -> Result<Self, Invalid> {
        if needs.len() > CAPABILITIES_MAX {
            let why = format!("a task can need at most {CAPABILITIES_MAX} capabilities");
            return Err(Invalid::new(code::INVALID_FIELD, why));
        }
        let mut text = pool.as_str().to_owned();
        for need in needs {
            text.push(' ');
            text.push_str(need.as_str());
        }
        Ok(Self(text))
    }

    /// Returns the line of what one worker alone is to do.
    pub fn of_worker(pool: &PoolName, worker: WorkerId) -> Self {
        // No capability has a colon, so no task comes here but by being assigned.
        Self(format!("{pool} :{worker}"))
    }

    /// Takes a stored line.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the pool.
    pub fn pool(&self) -> &str {
        self.0.split(' ').next().unwrap_or_default()
    }

    /// Tells whether somebody with these capabilities can do what waits here.
    pub fn is_open_to(&self, able: &BTreeSet<Capability>) -> bool {
        let mut needs = self.0.split(' ').skip(1).filter(|need| !need.starts_with(BAR));
        needs.all(|need| able.iter().any(|one| one.as_str() == need))
    }

    /// Returns the line of what these workers are not to try again.
    pub fn without(&self, workers: &[WorkerId]) -> Self {
        let own = self.0.split(' ').filter(|need| !need.starts_with(BAR));
        let mut text = own.collect::<Vec<_>>().join(" ");
        let newest = workers.len().saturating_sub(BARRED_MAX);
        let mut barred = workers[newest..].to_vec();
        barred.sort_unstable();
        barred.dedup();
        for worker in barred {
            text.push_str(&format!(" {BAR}{worker}"));
        }
        Self(text)
    }

    /// Tells whether a worker is not to try again what waits here, whatever it can do.
    pub fn bars(&self, worker: WorkerId) -> bool {
        let mut barred = self.0.split(' ').filter_map(|need| need.strip_prefix(BAR)).peekable();
        barred.peek().is_some() && {
            let worker = worker.to_string();
            barred.any(|one| one == worker)
        }
    }

    /// Tells whether what waits here is for one worker alone.
    pub fn is_of_worker(&self) -> bool {
        self.0.split(' ').skip(1).any(|need| need.starts_with(':'))
    }

    /// Tells whether it follows from what tasks need, and not from who is to do them.
    pub fn is_plain(&self) -> bool {
        !self.0.split(' ').skip(1).any(|need| need.starts_with([':', BAR]))
    }
}

/// How a worker is named that is not to try a task again: no capability begins like this.
const BAR: char = '!';
/// How many workers a line can be closed to, besides those who are not able.
const BARRED_MAX: usize = 8;

/// Which of the workers that wait gets a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The one with the smallest share of its capacity in use.
    #[default]
    LeastLoaded,
    /// The one that has waited longest.
    RoundRobin,
    /// The one that had the last task of the same session, if it waits; else the least loaded.
    Affinity,
}

impl Placement {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::LeastLoaded, Self::RoundRobin, Self::Affinity];

    /// Returns the name of the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LeastLoaded => "least-loaded",
            Self::RoundRobin => "round-robin",
            Self::Affinity => "affinity",
        }
    }
}

impl FromStr for Placement {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|one| one.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such placement")
                .with_hint("placements are least-loaded, round-robin and affinity")
        })
    }
}

/// From how many dead letters on people are told, unless a pool says otherwise.
const DEAD_ALERT: u32 = 10;

/// How a pool works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PoolSettings {
    /// Whether nothing is handed out for now.
    pub paused: bool,
    /// After how many seconds of waiting a task rises by one tier; none means never.
    pub ageing_seconds: Option<u32>,
    /// Which worker gets a task.
    pub placement: Placement,
    /// From how many dead letters on people are told; 0 means never.
    pub dead_alert: u32,
    /// Whether people were told, and it did not become much better since.
    pub alerted: bool,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            paused: false,
            ageing_seconds: None,
            placement: Placement::default(),
            dead_alert: DEAD_ALERT,
            alerted: false,
        }
    }
}

/// A pool: where tasks wait for workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// The name.
    pub name: PoolName,
    /// How it works.
    pub settings: PoolSettings,
    /// When it was first used.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn able(words: &[&str]) -> BTreeSet<Capability> {
        words.iter().map(|word| word.parse().unwrap()).collect()
    }

    #[test]
    fn a_line_is_open_to_those_who_can_do_all_it_needs() {
        let lane = Lane::new(&"ci".parse().unwrap(), &able(&["rust", "gpu"])).unwrap();
        assert_eq!(lane.as_str(), "ci gpu rust");
        assert!(lane.is_open_to(&able(&["rust", "gpu", "arm"])));
        assert!(!lane.is_open_to(&able(&["rust"])));
        assert_eq!(lane.pool(), "ci");
    }

    #[test]
    fn a_line_can_be_closed_to_those_who_failed() {
        let [one, two]: [WorkerId; 2] = [crate::Mint::system().id(), crate::Mint::system().id()];
        let home = Lane::new(&"ci".parse().unwrap(), &able(&["rust"])).unwrap();
        let lane = home.without(&[one, one]);
        assert!(lane.is_open_to(&able(&["rust"])) && !lane.is_open_to(&able(&[])));
        assert_eq!((lane.bars(one), lane.bars(two), home.bars(one)), (true, false, false));
        assert_eq!((lane.pool(), lane.is_plain(), home.is_plain()), ("ci", false, true));
        assert_eq!(lane.without(&[]), home, "it opens again");
        assert!(lane.without(&[two]).bars(two) && !lane.without(&[two]).bars(one));
        let own = Lane::of_worker(&"ci".parse().unwrap(), one);
        assert!(own.is_of_worker() && !own.is_plain() && !lane.is_of_worker());
        let many: Vec<WorkerId> = (0..50).map(|_| crate::Mint::system().id()).collect();
        let lane = home.without(&many);
        assert!(lane.bars(many[49]) && !lane.bars(many[0]), "those who failed last count");
    }

    #[test]
    fn words_are_plain() {
        for bad in ["", "A", "a b", "ä", ":x", "-x", &"x".repeat(65)] {
            assert!(bad.parse::<PoolName>().is_err(), "{bad}");
        }
        assert!("gpu-a100.80gb".parse::<Capability>().is_ok());
    }
}
