//! Looks at a repository without a checkout: what it is made of, how it is tested, what changed lately.
//!
//! Three calls of git at most, whatever the repository: its files with their sizes, its latest commits,
//! and the few small files that say how tests are run. Lines are told from sizes, so no file is read for
//! them.

mod parts;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use godel_model::{History, HotFile, Language, Survey, Tests};

use crate::error::Result;
use crate::git::Git;

/// How many files are looked at.
const FILES_MAX: usize = 50_000;
/// How many paths are kept to find words in.
const PATHS_MAX: usize = 2_000;
/// The longest path that is kept.
const PATH_MAX_BYTES: usize = 300;
/// How many commits are looked at.
const COMMITS_MAX: usize = 100;
/// How many files are told of that change often.
const HOT_MAX: usize = 10;
/// How large a file may be that is read for how tests are run.
const READ_MAX_BYTES: u64 = 64 * 1024;
/// About how many bytes a line of a program has.
const LINE_BYTES: u64 = 32;
/// Files that no person has written count no lines.
const WRITTEN_MAX_BYTES: u64 = 1 << 20;

/// A file of the commit.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) object: String,
}

impl File {
    /// About how many lines it has; none if it is no program that a person wrote.
    pub(crate) fn lines(&self) -> u64 {
        let written = words::language(&self.path).is_some() && self.bytes <= WRITTEN_MAX_BYTES;
        if written { self.bytes.div_ceil(LINE_BYTES) } else { 0 }
    }
}

/// Looks at the repository of a directory, at a commit or whatever else git calls by that name.
///
/// # Errors
/// If it is no repository, or git fails. A repository without the commit is an empty one.
pub fn survey(directory: &Path, revision: &str) -> Result<Survey> {
    let wanted = format!("{revision}^{{commit}}");
    let asked = ["rev-parse", "--quiet", "--verify", "--end-of-options", &wanted];
    let Some(commit) = ask(directory).args(asked).maybe()? else {
        // The difference between no commit and no repository is worth an error.
        ask(directory).args(["rev-parse", "--git-dir"]).run()?;
        return Ok(Survey::default());
    };
    let (listed, history) = std::thread::scope(|scope| {
        let history = scope.spawn(|| history(directory, &commit));
        (files(directory, &commit), history.join().unwrap_or_else(|_| Ok(History::default())))
    });
    let ((files, cut), history) = (listed?, history?);
    let tests = tests(directory, &files)?;
    let code = || files.iter().filter(|file| !words::foreign(&file.path));
    let kept = code().filter(|file| file.path.len() <= PATH_MAX_BYTES);
    Ok(Survey {
        commit: Some(commit),
        files: count(files.len()),
        lines: code().map(File::lines).sum(),
        languages: languages(code()),
        tests,
        parts: parts::parts(&files),
        paths: kept.take(PATHS_MAX).map(|file| file.path.clone()).collect(),
        cut,
        history,
    })
}

/// A call that changes nothing, and fetches nothing that a partial clone has left out.
fn ask<'a>(directory: &Path) -> Git<'a> {
    Git::within(directory).reading().env("GIT_NO_LAZY_FETCH", "1")
}

fn files(directory: &Path, commit: &str) -> Result<(Vec<File>, bool)> {
    let long = ask(directory).args(["ls-tree", "-r", "-l", "-z", "--full-tree", commit]).bytes();
    let bytes = match long {
        Ok(bytes) => bytes,
        // A partial clone does not have every file, so it cannot tell the sizes.
        Err(_) => ask(directory).args(["ls-tree", "-r", "-z", "--full-tree", commit]).bytes()?,
    };
    let mut entries = bytes.split(|byte| *byte == 0).filter_map(file);
    let files: Vec<File> = entries.by_ref().take(FILES_MAX).collect();
    Ok((files, entries.next().is_some()))
}

/// Reads `mode type object [size]<tab>path`.
fn file(entry: &[u8]) -> Option<File> {
    let text = String::from_utf8_lossy(entry);
    let (facts, path) = text.split_once('\t')?;
    let mut facts = facts.split_ascii_whitespace();
    let (_, kind, object) = (facts.next()?, facts.next()?, facts.next()?);
    let bytes = facts.next().and_then(|size| size.parse().ok()).unwrap_or(0);
    (kind == "blob").then(|| File { path: path.to_owned(), bytes, object: object.to_owned() })
}

fn languages<'a>(files: impl Iterator<Item = &'a File>) -> Vec<Language> {
    let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for file in files {
        if let Some(name) = words::language(&file.path) {
            let (number, lines) = found.entry(name).or_default();
            (*number, *lines) = (*number + 1, *lines + file.lines());
        }
    }
    let mut languages: Vec<Language> = found
        .into_iter()
        .map(|(name, (files, lines))| Language { name: name.to_owned(), files, lines })
        .collect();
    languages.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    languages
}

fn tests(directory: &Path, files: &[File]) -> Result<Tests> {
    let there: HashMap<&str, &File> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut told = HashMap::new();
    for name in words::TELLING {
        if let Some(file) = there.get(name).filter(|file| file.bytes <= READ_MAX_BYTES) {
            let text = ask(directory).args(["cat-file", "blob", &file.object]).bytes();
            // What cannot be read tells nothing; that is no reason to see nothing.
            let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            told.insert(name, text.unwrap_or_default());
        }
    }
    let names: HashSet<&str> = there.keys().copied().collect();
    let number = files.iter().filter(|file| words::is_test(&file.path)).count();
    Ok(Tests { command: words::command(&names, &told, number > 0), files: count(number) })
}

fn history(directory: &Path, commit: &str) -> Result<History> {
    let number = format!("-n{}", COMMITS_MAX + 1);
    let asked = ["log", &number, "--no-renames", "--no-merges", "--name-only", "-z"];
    let bytes = ask(directory).args(asked).args(["--format=%x01%aE", commit, "--"]).bytes()?;
    let text = String::from_utf8_lossy(&bytes);
    let (mut commits, mut authors) = (0_usize, HashSet::new());
    let mut changed: BTreeMap<&str, u64> = BTreeMap::new();
    for piece in text.split(['\0', '\n']).filter(|piece| !piece.is_empty()) {
        if let Some(author) = piece.strip_prefix('\u{1}') {
            commits += 1;
            if commits > COMMITS_MAX {
                break;
            }
            authors.insert(author);
        } else if piece.len() <= PATH_MAX_BYTES && !words::foreign(piece) {
            *changed.entry(piece).or_default() += 1;
        }
    }
    let mut hot: Vec<HotFile> = changed
        .into_iter()
        .map(|(path, changes)| HotFile { path: path.to_owned(), changes })
        .collect();
    hot.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.path.cmp(&b.path)));
    hot.truncate(HOT_MAX);
    Ok(History {
        commits: count(commits.min(COMMITS_MAX)),
        more: commits > COMMITS_MAX,
        authors: count(authors.len()),
        hot,
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
