//! How large a change is, and what to look at with care.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use godel_git::DiffStat;

/// A change of more lines is large.
const LARGE_LINES: u64 = 500;
/// How much is remembered of each kind; more than people look at in a day.
const KNOWN_MAX: usize = 20_000;

/// How large a change is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Size {
    /// How many files differ.
    pub files: usize,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// What to look at with care.
    pub risks: Vec<&'static str>,
}

impl Size {
    /// Sums up what differs.
    pub(crate) fn of(stat: &DiffStat) -> Self {
        let DiffStat { files, added, removed, .. } = *stat;
        Self { files, added, removed, risks: risks(stat) }
    }
}

/// Says what to look at with care, by the size and the names alone.
fn risks(stat: &DiffStat) -> Vec<&'static str> {
    let any = |parts: &[&str]| {
        stat.paths.iter().any(|path| {
            let path = path.to_lowercase();
            parts.iter().any(|part| path.contains(part))
        })
    };
    let found = [
        (stat.added + stat.removed > LARGE_LINES, "large"),
        (stat.removed > stat.added * 2 && stat.removed > 50, "removes a lot"),
        (any(&["migration", ".sql"]), "database"),
        (any(&["auth", "login", "password", "secret", "crypt", "token"]), "security"),
        (any(&[".github/", ".gitlab-ci", "dockerfile", "jenkinsfile"]), "build"),
        (any(&["cargo.toml", "package.json", "go.mod", "requirements", ".lock"]), "dependencies"),
        (any(&["godel.toml", ".godel/"]), "rules for agents"),
    ];
    found.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect()
}

/// Two commits of a repository.
pub(crate) type Pair = (PathBuf, String, String);

/// What is known of pairs of commits: it is never otherwise than before.
#[derive(Default)]
pub(crate) struct Known {
    /// Where the second left the first.
    pub(crate) bases: Book<Option<String>>,
    /// What lies between them.
    pub(crate) sizes: Book<Size>,
}

/// What is known of pairs, by the pair.
pub(crate) struct Book<T>(Mutex<HashMap<Pair, T>>);

impl<T> Default for Book<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Book<T> {
    /// Finds what is known of a pair.
    pub(crate) fn find(&self, pair: &Pair) -> Option<T> {
        self.pages().get(pair).cloned()
    }

    /// Remembers it.
    pub(crate) fn keep(&self, pair: Pair, what: T) {
        let mut pages = self.pages();
        // To find out again what somebody still looks at is cheaper than to know who looked last.
        if pages.len() >= KNOWN_MAX {
            pages.clear();
        }
        pages.insert(pair, what);
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<Pair, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
