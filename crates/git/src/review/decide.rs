//! Decisions: what was said about a part of a change, and what that part is now.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::changes::{Changes, FileChange, Hunk};

/// Lines of a hunk, from the first that differs; 1 is the first, and both ends are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// The first.
    pub from: u32,
    /// The last.
    pub to: u32,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may be so.
    Accepted,
    /// It stays as it was.
    Rejected,
    /// It is to be so instead: the text from the first line that differs to the last.
    Edited(String),
}

/// What was decided about one part of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The file.
    pub path: String,
    /// The key of the hunk, or of the file as a whole.
    pub key: String,
    /// Some lines only; they are of a hunk.
    #[serde(default)]
    pub lines: Option<Lines>,
    /// What was decided.
    pub verdict: Verdict,
    /// What the lines were like, to find the part again when it has changed.
    #[serde(default)]
    pub prints: Vec<u32>,
}

/// Whether what was decided about is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is there as it was.
    Bound,
    /// Something like it is there: it has changed since.
    Changed,
    /// Nothing like it is there any more.
    Gone,
}

/// What becomes of that about which nothing was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// It counts as accepted.
    Keep,
    /// It counts as rejected.
    LeaveOut,
}

/// How a part of a change stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing was decided, or only some lines were accepted.
    Undecided,
    /// All of it was accepted.
    Accepted,
    /// All of it was rejected.
    Rejected,
    /// Some of its lines were rejected.
    Mixed,
    /// A person wrote something else.
    Edited,
}

/// One part of a change that can be decided.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// A hunk.
    Hunk(&'a FileChange, &'a Hunk),
    /// The name, the mode or all of a file.
    File(&'a FileChange, &'a str),
}

impl Part<'_> {
    /// Returns the key.
    pub fn key(&self) -> &str {
        match self {
            Self::Hunk(_, hunk) => &hunk.key,
            Self::File(_, key) => key,
        }
    }

    /// Returns the file.
    pub const fn file(&self) -> &FileChange {
        match self {
            Self::Hunk(file, _) | Self::File(file, _) => file,
        }
    }

    /// Makes a decision about it.
    pub fn decide(&self, lines: Option<Lines>, verdict: Verdict) -> Decision {
        let prints = match self {
            Self::Hunk(_, hunk) => hunk.prints.clone(),
            Self::File(..) => Vec::new(),
        };
        Decision {
            path: self.file().path.clone(),
            key: self.key().to_owned(),
            lines,
            verdict,
            prints,
        }
    }
}

/// How many parts of a change stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Accepted, as they are or edited.
    pub accepted: u32,
    /// Rejected, all or some of their lines.
    pub rejected: u32,
    /// Not decided.
    pub undecided: u32,
}

/// What was decided about one part, line by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Verdicts {
    /// For each line of the body; one for a file as a whole.
    pub(crate) lines: Vec<Option<bool>>,
    /// What a person wrote instead.
    pub(crate) text: Option<String>,
}

impl Verdicts {
    fn standing(&self) -> Standing {
        let all = |wanted: Option<bool>| self.lines.iter().all(|line| *line == wanted);
        if self.text.is_some() {
            Standing::Edited
        } else if all(Some(true)) {
            Standing::Accepted
        } else if all(Some(false)) {
            Standing::Rejected
        } else if self.lines.contains(&Some(false)) {
            Standing::Mixed
        } else {
            Standing::Undecided
        }
    }

    /// Tells whether something of it is not decided.
    fn is_open(&self) -> bool {
        self.text.is_none() && self.lines.contains(&None)
    }

    fn take(&mut self, lines: Option<Lines>, verdict: &Verdict) {
        let accepted = match verdict {
            Verdict::Edited(text) => {
                self.text = Some(text.clone());
                return;
            }
            Verdict::Accepted => true,
            Verdict::Rejected => false,
        };
        self.text = None;
        for (at, line) in (1..).zip(&mut self.lines) {
            if lines.is_none_or(|lines| (lines.from..=lines.to).contains(&at)) {
                *line = Some(accepted);
            }
        }
    }
}

impl FileChange {
    /// Lists what can be decided about the file: its hunks, then the file as a whole.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let hunks = self.hunks.iter().filter(|_| !self.entire);
        let whole = self.key.as_deref().map(|key| Part::File(self, key));
        hunks.map(|hunk| Part::Hunk(self, hunk)).chain(whole)
    }
}

impl Changes {
    /// Lists all that can be decided.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.files.iter().flat_map(FileChange::parts)
    }

    /// Tells for each decision whether what it is about is still there.
    pub fn bind(&self, decisions: &[Decision]) -> Vec<Bound> {
        let parts: HashMap<&str, usize> = self
            .files
            .iter()
            .enumerate()
            .flat_map(|(at, file)| file.hunks.iter().map(move |hunk| (hunk.key.as_str(), at)))
            .chain(
                self.files
                    .iter()
                    .enumerate()
                    .filter_map(|(at, file)| Some((file.key.as_deref()?, at))),
            )
            .collect();
        let told = |decision: &Decision| {
            if parts.contains_key(decision.key.as_str()) {
                return Bound::Bound;
            }
            let mut files = self.files.iter().filter(|file| {
                file.path == decision.path || file.old_path.as_ref() == Some(&decision.path)
            });
            let whole = decision.prints.is_empty();
            let like = |hunk: &Hunk| hunk.prints.iter().any(|one| decision.prints.contains(one));
            let found = files.any(|file| file.entire || whole || file.hunks.iter().any(like));
            if found { Bound::Changed } else { Bound::Gone }
        };
        decisions.iter().map(told).collect()
    }

    /// Tells how each part stands, by its key.
    pub fn standings(&self, decisions: &[Decision]) -> HashMap<String, Standing> {
        let verdicts = self.verdicts(decisions);
        verdicts.into_iter().map(|(key, one)| (key.to_owned(), one.standing())).collect()
    }

    /// Counts how the parts stand.
    pub fn tally(&self, decisions: &[Decision]) -> Tally {
        let mut tally = Tally::default();
        for standing in self.verdicts(decisions).values().map(Verdicts::standing) {
            match standing {
                Standing::Accepted | Standing::Edited => tally.accepted += 1,
                Standing::Rejected | Standing::Mixed => tally.rejected += 1,
                Standing::Undecided => tally.undecided += 1,
            }
        }
        tally
    }

    /// Counts the parts of which something is not decided.
    pub fn open(&self, decisions: &[Decision]) -> usize {
        self.verdicts(decisions).values().filter(|one| one.is_open()).count()
    }

    /// Puts the decisions together, part by part; a later one counts more.
    pub(crate) fn verdicts(&self, decisions: &[Decision]) -> HashMap<&str, Verdicts> {
        let mut verdicts: HashMap<&str, Verdicts> = HashMap::new();
        for file in &self.files {
            for hunk in file.hunks.iter().filter(|_| !file.entire) {
                let lines = vec![None; hunk.body().len()];
                verdicts.insert(&hunk.key, Verdicts { lines, text: None });
            }
            if let Some(key) = &file.key {
                verdicts.insert(key, Verdicts { lines: vec![None], text: None });
            }
        }
        for decision in decisions {
            if let Some(one) = verdicts.get_mut(decision.key.as_str()) {
                one.take(decision.lines, &decision.verdict);
            }
        }
        verdicts
    }
}
