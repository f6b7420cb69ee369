//! Takes over what was committed in a sandbox, after it was checked.
//!
//! The objects come as a pack that git makes inside of the walls, as if from a stranger's server. They
//! are kept apart until everything about them is known to be good.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use godel_model::code;

use super::git::Git;
use super::repository::Repository;
use crate::error::at;
use crate::{Error, Result};

const PATH_MAX_BYTES: usize = 4_096;
const LINK_MAX_BYTES: u64 = 4_096;

/// What is to be taken over.
pub(super) struct Offer<'a> {
    pub(super) repository: &'a Repository,
    /// What it must descend from.
    pub(super) base: &'a str,
    /// The commit that is offered.
    pub(super) commit: &'a str,
    /// The objects that the repository lacks, as a pack.
    pub(super) pack: &'a Path,
    /// How large it may be.
    pub(super) bytes_max: u64,
}

/// Checks an offer and adds its objects to the repository; returns how many commits are new.
pub(super) fn admit(offer: &Offer<'_>) -> Result<u64> {
    let quarantine = Quarantine::make(offer)?;
    let refuse = |error: Error| match error {
        Error::Git { said, .. } => refused(format!("its objects are not sound: {said}")),
        other => other,
    };
    let pack = fs::File::open(offer.pack).map_err(at(offer.pack, "opened"))?;
    let most = format!("--max-input-size={}", offer.bytes_max);
    quarantine
        .git()
        .args(&["index-pack", "--stdin", "--strict", "--fix-thin", &most])
        .reading(pack)
        .map_err(refuse)?;
    let (base, commit) = (offer.base, offer.commit);
    let kind = quarantine.git().args(&["cat-file", "-t", commit]).maybe()?;
    if kind.as_deref() != Some("commit") {
        return Err(refused(format!("{commit} is not a commit")));
    }
    // Everything that it needs is here or was here: the objects are complete. Only the base is taken for
    // granted: `--all` would ask after the HEAD of every worktree too, and that of one which git is just
    // making names no object yet.
    let complete = ["rev-list", "--objects", "--quiet", commit, "--not", base];
    quarantine.git().args(&complete).run().map_err(refuse)?;
    let descends = ["merge-base", "--is-ancestor", base, commit];
    if !quarantine.git().args(&descends).output(b"")?.status.success() {
        return Err(refused(format!("{commit} does not descend from {base}")));
    }
    check_changes(&quarantine, offer)?;
    let range = format!("{base}..{commit}");
    let count = quarantine.git().args(&["rev-list", "--count", &range]).maybe()?;
    quarantine.release()?;
    Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::refused(
        code::COMMIT_REFUSED,
        format!("what was committed in the sandbox is not taken over: {why}"),
        "the sandbox still has it: let the agent put it right and commit again",
    )
}

/// Looks at each file that is new or changed.
fn check_changes(quarantine: &Quarantine, offer: &Offer<'_>) -> Result<()> {
    let listed = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"];
    let bytes = quarantine.git().args(&listed).args(&[offer.base, offer.commit]).bytes(b"")?;
    let mut parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    while let (Some(change), Some(path)) = (parts.next(), parts.next()) {
        let change = String::from_utf8_lossy(change).into_owned();
        // `:100644 100755 <before> <after> M`
        let fields: Vec<&str> = change.trim_start_matches(':').split(' ').collect();
        let [_, mode, _, after, _] = fields[..] else {
            return Err(refused("git tells its changes in an unknown way"));
        };
        let shown = String::from_utf8_lossy(path);
        check_path(path).map_err(|why| refused(format!("{shown:?} {why}")))?;
        match mode {
            "000000" | "100644" | "100755" => {}
            "120000" => {
                check_link(quarantine, Path::new(std::ffi::OsStr::from_bytes(path)), after)?;
            }
            "160000" => {
                return Err(refused(format!("{shown:?} is a repository in the repository")));
            }
            _ => return Err(refused(format!("{shown:?} has the mode {mode}"))),
        }
    }
    Ok(())
}

/// Says what is wrong with the path of a file.
fn check_path(path: &[u8]) -> std::result::Result<(), &'static str> {
    if path.len() > PATH_MAX_BYTES {
        return Err("is too long");
    }
    if path.iter().any(u8::is_ascii_control) {
        return Err("has control characters in its name");
    }
    for part in path.split(|byte| *byte == b'/') {
        let lower = part.to_ascii_lowercase();
        // What some file systems take for `.git`: other cases, a short name, ignored characters.
        let plain: Vec<u8> = String::from_utf8_lossy(&lower)
            .chars()
            .filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
            .collect::<String>()
            .into_bytes();
        let stem = plain.split(|byte| *byte == b':').next().unwrap_or_default();
        let stem = stem.trim_ascii_end();
        let stem: &[u8] = match stem.iter().rposition(|byte| !matches!(byte, b'.' | b' ')) {
            Some(last) => &stem[..=last],
            None => stem,
        };
        if matches!(stem, b".git" | b"git~1") {
            return Err("is or is in a git directory");
        }
        if matches!(part, b"" | b"." | b"..") {
            return Err("leads elsewhere");
        }
    }
    Ok(())
}

/// A link must lead to somewhere in the repository.
fn check_link(quarantine: &Quarantine, path: &Path, blob: &str) -> Result<()> {
    let size = quarantine.git().args(&["cat-file", "-s", blob]).maybe()?;
    let short = size.and_then(|size| size.parse::<u64>().ok()).is_some_and(|s| s <= LINK_MAX_BYTES);
    let target = if short {
        quarantine.git().args(&["cat-file", "blob", blob]).bytes(b"")?
    } else {
        Vec::new()
    };
    let target = Path::new(std::ffi::OsStr::from_bytes(&target));
    if short && stays_inside(path, target) {
        return Ok(());
    }
    Err(refused(format!("the link {} leads out of the repository", path.display())))
}

fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    if target.as_os_str().is_empty() {
        return false;
    }
    for part in target.components() {
        match part {
            Component::Normal(name) if name.eq_ignore_ascii_case(".git") => return false,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Objects that are not part of the repository yet; gone with this value.
struct Quarantine {
    common: PathBuf,
    /// Named as git names such directories, so that it sweeps up one that was left behind.
    dir: PathBuf,
}

impl Quarantine {
    fn make(offer: &Offer<'_>) -> Result<Self> {
        let common = offer.repository.common.clone();
        let dir = common.join(format!("objects/tmp_objdir-godel-{}", std::process::id()));
        let dir = dir.with_extension(&offer.commit[..12.min(offer.commit.len())]);
        match fs::remove_dir_all(&dir) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::file(&dir, "emptied", cause));
            }
            _ => {}
        }
        let pack = dir.join("pack");
        fs::create_dir_all(&pack).map_err(at(&pack, "made"))?;
        Ok(Self { common, dir })
    }

    fn git(&self) -> Git {
        let shared = self.common.join("objects");
        Git::on(&self.common)
            .env("GIT_OBJECT_DIRECTORY", &self.dir)
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", list_entry(&shared))
            .env("GIT_QUARANTINE_PATH", &self.dir)
    }

    /// Makes the objects part of the repository: the index last, since it is what git looks for.
    fn release(self) -> Result<()> {
        let (from, to) = (self.dir.join("pack"), self.common.join("objects/pack"));
        fs::create_dir_all(&to).map_err(at(&to, "made"))?;
        let entries = fs::read_dir(&from).map_err(at(&from, "read"))?;
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        names.sort_by_key(|path| path.extension().is_some_and(|end| end == "idx"));
        for path in names {
            let Some(name) = path.file_name() else { continue };
            fs::rename(&path, to.join(name)).map_err(at(&path, "moved"))?;
        }
        let folder = fs::File::open(&to).map_err(at(&to, "opened"))?;
        folder.sync_all().map_err(at(&to, "synced"))
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        // What is left is swept up by git some day.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Writes a path as one entry of a list that is divided by colons.
fn list_entry(path: &Path) -> std::ffi::OsString {
    let plain = path.as_os_str();
    let special = |byte: &u8| matches!(byte, b':' | b'"' | b'\\' | b'\n');
    if !plain.as_bytes().iter().any(special) {
        return plain.to_owned();
    }
    let mut quoted = vec![b'"'];
    for byte in plain.as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\n' => quoted.extend(b"\\n"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'"');
    std::ffi::OsStr::from_bytes(&quoted).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_some_file_system_takes_for_git_are_refused() {
        for good in ["a", "a/b.txt", ".gitignore", ".github/x", "git", "a b/ö", "x.git", "..a"] {
            assert_eq!(check_path(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            ".git",
            "a/.git/config",
            ".GIT/x",
            "git~1/x",
            ".git /x",
            ".git./x",
            ".git::$INDEX_ALLOCATION/x",
            ".g\u{200c}it/x",
            "a/../b",
            "a//b",
            "./a",
            "a\nb",
        ] {
            assert!(check_path(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn links_stay_inside() {
        let inside = |link: &str, target: &str| stays_inside(Path::new(link), Path::new(target));
        assert!(inside("a", "b"));
        assert!(inside("d/a", "../b"));
        assert!(inside("d/e/a", "../../x/../b"));
        for (link, target) in [
            ("a", "/etc/passwd"),
            ("a", "../b"),
            ("d/a", "../../b"),
            ("a", "x/../../b"),
            ("a", ""),
            ("a", ".git/config"),
        ] {
            assert!(!inside(link, target), "{link} -> {target}");
        }
    }
}
