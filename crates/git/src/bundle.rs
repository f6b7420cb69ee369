//! Commits that snapshots of agents began at: kept by a reference of their own, and carried from one
//! repository to another as a bundle of git.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use godel_model::code;
use uuid::Uuid;

use crate::bench::Workbench;
use crate::error::{Error, Result, at};

/// Where commits of snapshots are kept.
const REFS: &str = "refs/godel/snapshots";
/// How long the head of a bundle may be.
const HEAD_MAX_BYTES: u64 = 1 << 20;
/// How many commits are named that are missing.
const NAMED_MAX: usize = 3;

/// What the head of a bundle says.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    /// Commits that the other repository must have.
    needs: Vec<String>,
    /// The one reference in it.
    reference: String,
    /// Its commit.
    commit: String,
}

impl Workbench {
    /// Keeps the commit of a snapshot from being collected; again is fine.
    ///
    /// # Errors
    /// If there is no such commit, or git fails.
    pub fn pin(&self, snapshot: Uuid, commit: &str) -> Result<()> {
        let commit = self.repo.known(commit)?;
        self.repo.git().args(["update-ref", &reference(snapshot), &commit]).run()
    }

    /// Lets the commit of a snapshot go; one that is not kept is fine.
    ///
    /// # Errors
    /// If git fails.
    pub fn unpin(&self, snapshot: Uuid) -> Result<()> {
        self.repo.git().args(["update-ref", "-d", &reference(snapshot)]).run()
    }

    /// Writes those commits of a snapshot into a file that a branch has not; `false`, and no file, if it has
    /// all of them.
    ///
    /// # Errors
    /// If the commit is not kept, or git fails.
    pub fn bundle(&self, snapshot: Uuid, branch: Option<&str>, to: &Path) -> Result<bool> {
        let reference = reference(snapshot);
        self.repo.known(&reference)?;
        let known = match branch {
            Some(branch) => self.head_of(branch)?,
            None => None,
        };
        let without = known.map(|commit| format!("^{commit}"));
        let count = ["rev-list", "--count", &reference].into_iter().chain(without.as_deref());
        if self.repo.ask().args(count).line()? == "0" {
            return Ok(false);
        }
        let create = self.repo.git().args(["bundle", "create", "--quiet"]).args([to]);
        create.args([reference.as_str()]).args(without.as_deref()).run()?;
        Ok(true)
    }

    /// Sees whether the commits of a file can be taken in.
    ///
    /// # Errors
    /// If it is no bundle with that commit, or commits are missing here that it builds on.
    pub fn check_bundle(&self, commit: &str, from: &Path) -> Result<()> {
        self.bundle_head(commit, from).map(drop)
    }

    fn bundle_head(&self, commit: &str, from: &Path) -> Result<Head> {
        let head = read_head(from)?;
        if head.commit != commit {
            return Err(refused("its commits are those of another snapshot"));
        }
        let mut missing = Vec::new();
        for need in &head.needs {
            if self.repo.commit(need)?.is_none() {
                missing.push(need.as_str());
            }
        }
        refuse_missing(&missing)?;
        Ok(head)
    }

    /// Takes the commits of a file in, and keeps the one that a snapshot began at. What is in them is checked
    /// as git checks what anybody sends.
    ///
    /// # Errors
    /// If it is no bundle with that commit, or commits are missing here that it builds on.
    pub fn unbundle(&self, snapshot: Uuid, commit: &str, from: &Path) -> Result<()> {
        let head = self.bundle_head(commit, from)?;
        let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune"];
        let more = ["--no-auto-maintenance", "--recurse-submodules=no", "--refmap="];
        let spec = format!("{}:{}", head.reference, reference(snapshot));
        let git = self.repo.git().settings(&["fetch.fsckObjects=true".to_owned()]);
        let fetched = git.args(fetch).args(more).args([from]).args([spec.as_str()]).run();
        match fetched {
            Err(Error::Git { said, .. }) => {
                Err(refused(&format!("git does not take its commits: {said}")))
            }
            other => other,
        }
    }

    /// Sees that a commit is here that a snapshot began at.
    ///
    /// # Errors
    /// If it is not; the error names it.
    pub fn must_have(&self, commit: &str) -> Result<()> {
        match self.repo.commit(commit)? {
            Some(_) => Ok(()),
            None => refuse_missing(&[commit]),
        }
    }
}

fn refuse_missing(missing: &[&str]) -> Result<()> {
    let Some(first) = missing.first() else { return Ok(()) };
    let named = missing[..missing.len().min(NAMED_MAX)].join(", ");
    Err(Error::refused(
        code::COMMIT_NOT_FOUND,
        format!("the snapshot builds on commits that this repository has not: {named}"),
        format!("fetch them first, as with `git fetch origin {first}`, and import it again"),
    ))
}

fn reference(snapshot: Uuid) -> String {
    format!("{REFS}/{snapshot}")
}

/// Reads the head of a bundle, which anybody may have written.
fn read_head(path: &Path) -> Result<Head> {
    let file = File::open(path).map_err(at(path, "read"))?;
    let mut lines = BufReader::new(file.take(HEAD_MAX_BYTES)).split(b'\n');
    let mut next = || -> Result<String> {
        let line = lines.next().transpose().map_err(at(path, "read"))?;
        let line = line.ok_or_else(|| refused("the list of its commits is cut off"))?;
        String::from_utf8(line).map_err(|_| refused("the list of its commits is none"))
    };
    if !matches!(next()?.as_str(), "# v2 git bundle" | "# v3 git bundle") {
        return Err(refused("its commits are no bundle of git"));
    }
    let (mut needs, mut tips) = (Vec::new(), Vec::new());
    loop {
        let line = next()?;
        if line.is_empty() {
            break;
        }
        if line.starts_with("@object-format=") {
            continue;
        }
        let needed = line.strip_prefix('-');
        let text = needed.unwrap_or(&line);
        let (id, rest) = text.split_once(' ').unwrap_or((text, ""));
        if !is_id(id) {
            return Err(refused("the list of its commits is none"));
        }
        match needed {
            Some(_) => needs.push(id.to_owned()),
            None => tips.push((id.to_owned(), rest.to_owned())),
        }
    }
    let own = |name: &str| {
        let id = name.strip_prefix(REFS).and_then(|rest| rest.strip_prefix('/'));
        id.is_some_and(|id| Uuid::try_parse(id).is_ok_and(|uuid| uuid.to_string() == id))
    };
    match tips.as_slice() {
        [(commit, name)] if own(name) => {
            Ok(Head { needs, reference: name.clone(), commit: commit.clone() })
        }
        _ => Err(refused("it holds other commits than those of one snapshot")),
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn refused(why: &str) -> Error {
    Error::refused(
        code::SNAPSHOT_FILE_INVALID,
        format!("this is no whole snapshot: {why}"),
        "export the snapshot again, and see that the file is copied whole",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn head(text: &str) -> Result<Head> {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("bundle");
        fs::write(&path, text).unwrap();
        read_head(&path)
    }

    #[test]
    fn only_the_bundle_of_one_snapshot_is_taken() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let own = format!("{REFS}/01a1e2de-a80e-76aa-8694-f10e77a1bb67");
        let good = format!("# v2 git bundle\n-{one} why\n{two} {own}\n\nPACK");
        assert_eq!(
            head(&good).unwrap(),
            Head { needs: vec![one.clone()], reference: own.clone(), commit: two.clone() }
        );
        assert!(head(&good.replace("v2", "v3").replace("-1", "@object-format=sha1\n-1")).is_ok());
        assert!(head(&format!("# v2 git bundle\n-{one}\n{two} {own}\n\n")).is_ok());
        for bad in [
            String::new(),
            "PK".to_owned(),
            good.replace("v2", "v4"),
            good.replace("\n\n", ""),
            good.replace(&own, "refs/heads/main"),
            good.replace(&own, &format!("{REFS}/../../heads/main")),
            good.replace(&format!("-{one} why"), &format!("{one} {own}")),
            good.replace(&two, "--upload-pack=x"),
            good.replace(&format!("-{one}"), "@filter=blob:none\n-x"),
        ] {
            assert!(head(&bad).is_err(), "{bad}");
        }
    }
}
