//! A plan: beads, what each needs, and who does it; and whether that can be carried out.

use std::collections::{BTreeMap, BTreeSet};

use godel_model::{BeadKind, Priority};
use serde::{Deserialize, Serialize};

/// The most beads of a plan.
pub const BEADS_MAX: usize = 40;
/// The longest title.
pub const TITLE_MAX_CHARS: usize = 200;
/// The longest description.
pub const DESCRIPTION_MAX_CHARS: usize = 8_000;
/// The most files that a bead names.
pub const FILES_MAX: usize = 50;
/// How many problems are told.
const PROBLEMS_MAX: usize = 20;
const KEY_MAX_CHARS: usize = 40;
const FILE_MAX_CHARS: usize = 300;

/// How much work a bead is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// A few lines in one place.
    Small,
    /// A piece of work of the usual kind.
    Medium,
    /// Many files, or hard ones.
    Large,
}

impl Size {
    /// All of them, the smallest first.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

/// One bead of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedBead {
    /// What it is called in the plan.
    pub key: String,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, and how one sees that it is done.
    pub description: String,
    /// What kind of work it is.
    #[serde(rename = "type")]
    pub kind: BeadKind,
    /// How urgent it is.
    pub priority: Priority,
    /// The beads that must be done first, by their keys.
    pub needs: Vec<String>,
    /// Who does it.
    pub role: String,
    /// How much work it is.
    pub size: Size,
    /// Where the work is, as far as it can be told.
    pub files: Vec<String>,
}

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What it is called.
    pub title: String,
    /// Its beads.
    pub beads: Vec<PlannedBead>,
}

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "problem", rename_all = "kebab-case")]
pub enum Problem {
    /// It has no bead.
    NoBeads,
    /// It has too many.
    TooManyBeads {
        /// How many.
        beads: usize,
    },
    /// A key is empty, too long, or not of a-z, 0-9 and -.
    BadKey {
        /// The key.
        key: String,
    },
    /// Two beads have the same key.
    SameKey {
        /// The key.
        key: String,
    },
    /// Two beads have the same title.
    SameTitle {
        /// The keys of the two.
        keys: (String, String),
    },
    /// A text is empty or too long.
    BadText {
        /// Whose.
        key: String,
        /// Which: title, description, files.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A bead needs one that is not there.
    UnknownNeed {
        /// The bead.
        key: String,
        /// What it needs.
        need: String,
    },
    /// A role is not there.
    UnknownRole {
        /// The bead.
        key: String,
        /// The role.
        role: String,
    },
    /// Beads wait for each other in a circle.
    Cycle {
        /// The circle, by keys.
        keys: Vec<String>,
    },
    /// It is no plan at all.
    Unreadable {
        /// Why.
        why: String,
    },
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBeads => write!(f, "the plan has no beads"),
            Self::TooManyBeads { beads } => {
                write!(f, "the plan has {beads} beads, and at most {BEADS_MAX} are allowed")
            }
            Self::BadKey { key } => {
                write!(
                    f,
                    "the key \"{}\" must be 1 to {KEY_MAX_CHARS} of a-z, 0-9 and -",
                    shown(key)
                )
            }
            Self::SameKey { key } => write!(f, "two beads have the key \"{}\"", shown(key)),
            Self::SameTitle { keys: (a, b) } => {
                write!(f, "\"{}\" and \"{}\" have the same title", shown(a), shown(b))
            }
            Self::BadText { key, what, why } => write!(f, "the {what} of \"{}\" {why}", shown(key)),
            Self::UnknownNeed { key, need } => {
                write!(f, "\"{}\" needs \"{}\", which is not in the plan", shown(key), shown(need))
            }
            Self::UnknownRole { key, role } => {
                write!(
                    f,
                    "\"{}\" is for the role \"{}\", which there is not",
                    shown(key),
                    shown(role)
                )
            }
            Self::Cycle { keys } => {
                let keys: Vec<String> = keys.iter().map(|key| shown(key)).collect();
                write!(f, "these beads wait for each other: {}", keys.join(" -> "))
            }
            Self::Unreadable { why } => write!(f, "the answer is no plan: {}", shown(why)),
        }
    }
}

/// A text of somebody else's, short and without what could be mistaken for more.
fn shown(text: &str) -> String {
    text.chars().take(120).collect::<String>().escape_debug().to_string()
}

impl Plan {
    /// Checks that the plan can be carried out with these roles.
    ///
    /// # Errors
    /// What is wrong with it, each naming the beads.
    pub fn check(&self, roles: &[String]) -> Result<(), Vec<Problem>> {
        let mut found = Vec::new();
        if self.beads.is_empty() {
            found.push(Problem::NoBeads);
        }
        if self.beads.len() > BEADS_MAX {
            return Err(vec![Problem::TooManyBeads { beads: self.beads.len() }]);
        }
        self.check_keys(&mut found);
        for bead in &self.beads {
            check_texts(bead, &mut found);
            if !roles.contains(&bead.role) {
                found.push(Problem::UnknownRole { key: bead.key.clone(), role: bead.role.clone() });
            }
            let known = |need: &String| self.beads.iter().any(|other| other.key == *need);
            for need in bead.needs.iter().filter(|need| !known(need)) {
                found.push(Problem::UnknownNeed { key: bead.key.clone(), need: need.clone() });
            }
        }
        if let Some(keys) = self.circle() {
            found.push(Problem::Cycle { keys });
        }
        found.truncate(PROBLEMS_MAX);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    fn check_keys(&self, found: &mut Vec<Problem>) {
        let mut titles: BTreeMap<String, &str> = BTreeMap::new();
        let mut keys = BTreeSet::new();
        for bead in &self.beads {
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let length = bead.key.chars().count();
            if !(1..=KEY_MAX_CHARS).contains(&length) || !bead.key.chars().all(good) {
                found.push(Problem::BadKey { key: bead.key.clone() });
            }
            if !keys.insert(bead.key.as_str()) {
                found.push(Problem::SameKey { key: bead.key.clone() });
            }
            if let Some(other) = titles.insert(bead.title.to_lowercase(), &bead.key) {
                found.push(Problem::SameTitle { keys: (other.to_owned(), bead.key.clone()) });
            }
        }
    }

    /// Returns the bead of a key.
    pub fn bead(&self, key: &str) -> Option<&PlannedBead> {
        self.beads.iter().find(|bead| bead.key == key)
    }

    /// Returns the keys of beads that can be worked on at the same time, one wave after the other.
    ///
    /// Beads in a circle are in no wave; [`Self::check`] refuses them.
    pub fn waves(&self) -> Vec<Vec<String>> {
        let mut waves: Vec<Vec<String>> = Vec::new();
        let mut done: BTreeSet<&str> = BTreeSet::new();
        loop {
            let ready: Vec<&PlannedBead> = self
                .beads
                .iter()
                .filter(|bead| !done.contains(bead.key.as_str()))
                .filter(|bead| bead.needs.iter().all(|need| done.contains(need.as_str())))
                .collect();
            if ready.is_empty() {
                return waves;
            }
            done.extend(ready.iter().map(|bead| bead.key.as_str()));
            waves.push(ready.iter().map(|bead| bead.key.clone()).collect());
        }
    }

    /// Tells whether a bead comes before another, directly or through others.
    pub fn before(&self, earlier: &str, later: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![later];
        while let Some(key) = open.pop() {
            for need in self.bead(key).map(|bead| bead.needs.as_slice()).unwrap_or_default() {
                if need == earlier {
                    return true;
                }
                if seen.insert(need.as_str()) {
                    open.push(need);
                }
            }
        }
        false
    }

    /// Leaves out what follows from other needs.
    pub(crate) fn reduce(&mut self) {
        let copy = self.clone();
        for bead in &mut self.beads {
            let needs = bead.needs.clone();
            bead.needs.retain(|need| {
                !needs.iter().any(|other| other != need && copy.before(need, other))
            });
            bead.needs.sort();
            bead.needs.dedup();
        }
    }

    /// Finds beads that wait for each other.
    fn circle(&self) -> Option<Vec<String>> {
        let placed: BTreeSet<String> = self.waves().into_iter().flatten().collect();
        let known: BTreeSet<&str> = self.beads.iter().map(|bead| bead.key.as_str()).collect();
        let stuck = |key: &str| known.contains(key) && !placed.contains(key);
        // Of those that never come, one that waits for a bead that is not there is no part of a circle.
        let mut start = self.beads.iter().filter(|bead| !placed.contains(&bead.key));
        start.find_map(|bead| {
            let mut path = vec![bead.key.clone()];
            loop {
                let last = self.bead(path.last()?)?;
                let next = last.needs.iter().find(|need| stuck(need))?;
                if let Some(at) = path.iter().position(|key| key == next) {
                    let mut circle = path.split_off(at);
                    circle.push(next.clone());
                    return Some(circle);
                }
                path.push(next.clone());
            }
        })
    }
}

fn check_texts(bead: &PlannedBead, found: &mut Vec<Problem>) {
    let mut bad = |what: &str, why: String| {
        found.push(Problem::BadText { key: bead.key.clone(), what: what.to_owned(), why });
    };
    let hidden = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if bead.title.trim().is_empty() {
        bad("title", "is empty".to_owned());
    }
    if bead.title.chars().count() > TITLE_MAX_CHARS {
        bad("title", format!("has more than {TITLE_MAX_CHARS} characters"));
    }
    if bead.title.contains('\n') || hidden(&bead.title) || hidden(&bead.description) {
        bad("text", "has control characters".to_owned());
    }
    if bead.description.chars().count() > DESCRIPTION_MAX_CHARS {
        bad("description", format!("has more than {DESCRIPTION_MAX_CHARS} characters"));
    }
    if bead.files.len() > FILES_MAX {
        bad("files", format!("are more than {FILES_MAX}"));
    }
    let outside = |path: &String| {
        path.is_empty()
            || path.chars().count() > FILE_MAX_CHARS
            || path.starts_with('/')
            || path.split('/').any(|word| word == "..")
            || path.chars().any(char::is_control)
    };
    if bead.files.iter().any(outside) {
        bad("files", "name a path outside of the repository, or none".to_owned());
    }
    let mut needs = bead.needs.clone();
    needs.sort();
    needs.dedup();
    if needs.len() != bead.needs.len() {
        bad("needs", "name a bead twice".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bead(key: &str, needs: &[&str]) -> PlannedBead {
        PlannedBead {
            key: key.to_owned(),
            title: format!("Do {key}"),
            description: String::new(),
            kind: BeadKind::Task,
            priority: Priority::Medium,
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            role: "worker".to_owned(),
            size: Size::Medium,
            files: Vec::new(),
        }
    }

    fn checked(beads: Vec<PlannedBead>) -> Vec<String> {
        let plan = Plan { title: "x".to_owned(), beads };
        let problems = plan.check(&["worker".to_owned()]).err().unwrap_or_default();
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_is_named_and_so_is_what_is_not_there() {
        assert_eq!(checked(vec![bead("a", &[]), bead("b", &["a"])]), [""; 0]);
        let circle = checked(vec![
            bead("a", &["c"]),
            bead("b", &["a"]),
            bead("c", &["b"]),
            bead("d", &["a"]),
        ]);
        assert_eq!(circle, ["these beads wait for each other: a -> c -> b -> a"]);
        assert_eq!(checked(vec![bead("a", &["a"])]), ["these beads wait for each other: a -> a"]);
        assert_eq!(
            checked(vec![bead("a", &["z"])]),
            ["\"a\" needs \"z\", which is not in the plan"]
        );
        let mut other = bead("a", &[]);
        other.role = "root".to_owned();
        assert_eq!(checked(vec![other]), ["\"a\" is for the role \"root\", which there is not"]);
    }

    #[test]
    fn what_is_empty_twice_or_too_much_is_refused() {
        assert_eq!(checked(Vec::new()), ["the plan has no beads"]);
        assert!(checked(vec![bead("a", &[]), bead("a", &[])])[0].contains("the key"));
        let mut twin = bead("b", &[]);
        twin.title = "do A".to_owned();
        assert_eq!(checked(vec![bead("a", &[]), twin]), ["\"a\" and \"b\" have the same title"]);
        let many = (0..=BEADS_MAX).map(|at| bead(&format!("k{at}"), &[])).collect();
        assert!(checked(many)[0].contains("at most 40"));
        for (title, path) in
            [("", "a"), ("x\ny", "a"), ("ok", "../etc/passwd"), ("ok", "/etc/passwd")]
        {
            let mut bad = bead("a", &[]);
            (bad.title, bad.files) = (title.to_owned(), vec![path.to_owned()]);
            assert_eq!(checked(vec![bad]).len(), 1, "{title:?} {path}");
        }
        assert!(checked(vec![bead("A b", &[])])[0].contains("of a-z"));
    }

    #[test]
    fn waves_follow_the_needs_and_needs_that_follow_are_left_out() {
        let mut plan = Plan {
            title: String::new(),
            beads: vec![
                bead("a", &[]),
                bead("b", &["a"]),
                bead("c", &["a"]),
                bead("d", &["a", "b", "c"]),
            ],
        };
        assert_eq!(plan.waves(), [vec!["a"], vec!["b", "c"], vec!["d"]]);
        assert!(plan.before("a", "d") && !plan.before("d", "a") && !plan.before("b", "c"));
        plan.reduce();
        assert_eq!(plan.bead("d").unwrap().needs, ["b", "c"]);
    }
}
