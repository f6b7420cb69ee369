//! Where work conflicts with the branch that it is for, with both sides.

use std::collections::BTreeMap;

use super::Reviewing;
use super::read::FILE_MAX_BYTES;
use crate::error::Result;
use crate::git::failed;

/// How many files in conflict are told of.
const FILES_MAX: usize = 100;
/// How many places of one file are told of.
const SPOTS_MAX: usize = 50;
/// How many lines of one side of a place are told of.
const LINES_MAX: usize = 200;
/// How many lines around a place are told of.
const AROUND: usize = 3;

/// The files in which two commits conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clashes {
    /// The commit that the branch is at.
    pub target: String,
    /// The commit of the work.
    pub head: String,
    /// The files, in the order of their names.
    pub files: Vec<Clash>,
    /// Whether there are more files.
    pub cut: bool,
}

/// A file in conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// The path.
    pub path: String,
    /// What is the matter with it, in a sentence.
    pub why: &'static str,
    /// The places in which it conflicts; none if it has no lines.
    pub spots: Vec<ClashSpot>,
    /// Whether there are more places.
    pub cut: bool,
}

/// A place in which a file conflicts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClashSpot {
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

impl Reviewing<'_> {
    /// Merges a commit into a branch in the object database alone, and tells in which files they conflict.
    ///
    /// # Errors
    /// If there is no such branch or commit, they share no history, or git fails.
    pub fn clashes(&self, branch: &str, head: &str) -> Result<Clashes> {
        let repo = self.repo();
        let (target, head) = (repo.known(&format!("refs/heads/{branch}"))?, self.exact(head)?);
        let mut settings = self.bench.landing().no_drivers()?;
        settings.push("merge.conflictStyle=diff3".to_owned());
        let git = repo.git().env("GIT_ATTR_SOURCE", &target).settings(&settings);
        let asked = ["merge-tree", "--write-tree", "--no-messages", "-z", &target, &head];
        let output = git.args(asked).output()?;
        let mut clashes = Clashes { target, head, files: Vec::new(), cut: false };
        let tree = match output.status.code() {
            Some(0) => return Ok(clashes),
            Some(1) => output.stdout.split(|byte| *byte == 0).next().unwrap_or_default(),
            _ => return Err(failed("merge-tree".to_owned(), &output)),
        };
        let tree = String::from_utf8_lossy(tree).into_owned();
        let stages = stages(&output.stdout);
        clashes.cut = stages.len() > FILES_MAX;
        for (path, stages) in stages.into_iter().take(FILES_MAX) {
            let (spots, cut) = match stages.iter().all(Stage::is_plain) {
                true => self.spots(&tree, &path, [&clashes.target, &clashes.head])?,
                false => (Vec::new(), false),
            };
            let why = why(&stages, !spots.is_empty());
            let path = String::from_utf8_lossy(&path).into_owned();
            clashes.files.push(Clash { path, why, spots, cut });
        }
        Ok(clashes)
    }

    /// Reads the marks that git left in a file of a merge.
    fn spots(&self, tree: &str, path: &[u8], ids: [&str; 2]) -> Result<(Vec<ClashSpot>, bool)> {
        let asked = ["ls-tree", "-z", "-l", "--full-tree", tree, "--"];
        let named = crate::git::path_of(path);
        let literal = self.repo().ask().env("GIT_LITERAL_PATHSPECS", "1");
        let told = literal.args(asked).args([&named]).line()?;
        let mut words = told.split_whitespace().skip(1);
        let (Some("blob"), Some(id), Some(size)) = (words.next(), words.next(), words.next())
        else {
            return Ok((Vec::new(), false));
        };
        if size.parse::<u64>().is_ok_and(|size| size > FILE_MAX_BYTES) {
            return Ok((Vec::new(), true));
        }
        let bytes = self.repo().ask().args(["cat-file", "blob", id]).bytes()?;
        Ok(marked(&String::from_utf8_lossy(&bytes), ids))
    }
}

/// One side of a file in conflict: its mode and the side it is on.
struct Stage {
    mode: String,
    number: u8,
}

impl Stage {
    fn is_plain(&self) -> bool {
        self.mode.starts_with("100")
    }
}

/// Reads `mode id stage<TAB>path`, each ended by a zero byte, after the id of the tree.
fn stages(told: &[u8]) -> BTreeMap<Vec<u8>, Vec<Stage>> {
    let mut found: BTreeMap<Vec<u8>, Vec<Stage>> = BTreeMap::new();
    for part in told.split(|byte| *byte == 0).skip(1).filter(|part| !part.is_empty()) {
        let mut halves = part.splitn(2, |byte| *byte == b'\t');
        let head = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
        let Some(path) = halves.next() else { continue };
        let mut words = head.split(' ');
        let (mode, number) = (words.next().unwrap_or_default().to_owned(), words.nth(1));
        let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        found.entry(path.to_vec()).or_default().push(Stage { mode, number });
    }
    found
}

fn why(stages: &[Stage], has_spots: bool) -> &'static str {
    let has = |number: u8| stages.iter().any(|stage| stage.number == number);
    match (has(1), has(2), has(3)) {
        _ if has_spots => "both sides changed the same lines",
        (true, false, true) => "the branch removed it, and the work changes it",
        (true, true, false) => "the work removes it, and the branch changed it",
        (false, true, true) => "both sides added it, and not as the same",
        (true, true, true) => "both sides changed it, and it has no lines to compare",
        _ => "a name is another on one side, or a folder is in its place",
    }
}

/// Which part of a place a line belongs to.
enum Within {
    Nothing,
    Target,
    Base,
    Work,
}

/// Finds the places between the marks of git, which name both commits.
fn marked(text: &str, [target, work]: [&str; 2]) -> (Vec<ClashSpot>, bool) {
    let (begin, end) = (format!("<<<<<<< {target}"), format!(">>>>>>> {work}"));
    let (mut spots, mut within) = (Vec::<ClashSpot>::new(), Within::Nothing);
    let mut around: Vec<String> = Vec::new();
    for line in text.lines() {
        within = match within {
            Within::Nothing if line == begin => {
                if spots.len() == SPOTS_MAX {
                    return (spots, true);
                }
                let above = around.split_off(around.len().saturating_sub(AROUND));
                spots.push(ClashSpot { above, ..ClashSpot::default() });
                around.clear();
                Within::Target
            }
            Within::Target if line.starts_with("||||||| ") => Within::Base,
            Within::Target | Within::Base if line == "=======" => Within::Work,
            Within::Work if line == end => Within::Nothing,
            inside => {
                if let Some(spot) = spots.last_mut() {
                    spot.take(&inside, line);
                }
                if matches!(inside, Within::Nothing) {
                    around.push(line.to_owned());
                }
                inside
            }
        };
    }
    (spots, false)
}

impl ClashSpot {
    fn take(&mut self, within: &Within, line: &str) {
        let (side, most) = match within {
            Within::Nothing => (&mut self.below, AROUND),
            Within::Target => (&mut self.target, LINES_MAX),
            Within::Base => (&mut self.base, LINES_MAX),
            Within::Work => (&mut self.work, LINES_MAX),
        };
        match side.len() < most {
            true => side.push(line.to_owned()),
            false => self.cut |= !matches!(within, Within::Nothing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_another_merge_are_lines_as_any_other() {
        let text =
            "a\n<<<<<<< other\nb\n<<<<<<< t\nx\n||||||| o\n=======\ny\n>>>>>>> w\nc\nd\ne\nf\n";
        let (spots, cut) = marked(text, ["t", "w"]);
        let words = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let spot = ClashSpot {
            above: words(&["a", "<<<<<<< other", "b"]),
            target: words(&["x"]),
            base: words(&[]),
            work: words(&["y"]),
            below: words(&["c", "d", "e"]),
            cut: false,
        };
        assert_eq!((spots, cut), (vec![spot], false));
    }

    #[test]
    fn a_side_that_is_long_is_cut_and_says_so() {
        let long = "x\n".repeat(LINES_MAX + 1);
        let (spots, _) = marked(&format!("<<<<<<< t\n{long}=======\n>>>>>>> w\n"), ["t", "w"]);
        assert_eq!((spots[0].target.len(), spots[0].cut), (LINES_MAX, true));
    }
}
