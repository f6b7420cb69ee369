//! What a look at a repository shows: how large it is, what it is made of, how it is tested.

use serde::{Deserialize, Serialize};

/// A repository at one commit, as far as it was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Survey {
    /// The commit; none if there is none yet.
    pub commit: Option<String>,
    /// How many files it has.
    pub files: u64,
    /// About how many lines the files of known languages have, told from their sizes.
    pub lines: u64,
    /// The languages, the largest first.
    pub languages: Vec<Language>,
    /// How it is tested.
    pub tests: Tests,
    /// What it consists of, the largest first.
    pub parts: Vec<Part>,
    /// Paths of files to find words in.
    pub paths: Vec<String>,
    /// Whether there are more files than were looked at.
    pub cut: bool,
    /// What happened lately.
    pub history: History,
}

/// One language of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Language {
    /// Its name.
    pub name: String,
    /// How many files are written in it.
    pub files: u64,
    /// About how many lines they have.
    pub lines: u64,
}

/// How a repository is tested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tests {
    /// The command that runs them, if it can be told.
    pub command: Option<String>,
    /// How many files are tests by their names.
    pub files: u64,
}

/// A folder or module of a repository that can be worked on by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// The last word of its path, without an ending.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// What it is for.
    pub kind: PartKind,
    /// How many files it has.
    pub files: u64,
    /// About how many lines they have.
    pub lines: u64,
}

/// What a part of a repository is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// The program.
    #[default]
    Code,
    /// Tests of it.
    Tests,
    /// Words about it.
    Docs,
    /// The shape of its data.
    Schema,
    /// How it is built and shipped.
    Chores,
}

/// The latest commits of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct History {
    /// How many commits were looked at.
    pub commits: u64,
    /// Whether there are older ones.
    pub more: bool,
    /// How many people made them.
    pub authors: u64,
    /// The files that were changed most often, the most often first.
    pub hot: Vec<HotFile>,
}

/// A file that is changed often.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotFile {
    /// Where it is.
    pub path: String,
    /// How many of the commits changed it.
    pub changes: u64,
}
