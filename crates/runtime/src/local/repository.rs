//! The sandbox's own git directory.
//!
//! A sandbox does not share the repository's git directory at all. It has one of its own, with its own
//! HEAD, index, references and objects, and borrows the objects of the repository, which it can only
//! read. So an agent can do with git whatever it likes, and neither breaks an object that others need
//! nor leaves a hook or a setting behind that a git outside would run. The real git directory of the
//! worktree does not change while an agent works.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use godel_model::code;

use super::bwrap::{GitWalls, inside};
use super::git::{Git, is_id};
use crate::error::at;
use crate::{Error, Identity, Result};

/// Settings that decide how files become objects; a sandbox must agree with the repository on them.
const KEPT: [&str; 9] = [
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
];
/// How many stores of objects a repository may borrow from.
const BORROWED_MAX: usize = 32;
/// Who commits if nobody is named anywhere.
const NAME: &str = "Godel agent";
const EMAIL: &str = "agent@godel.invalid";

/// A worktree and the repository that it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Repository {
    /// The git directory that all worktrees share.
    pub(super) common: PathBuf,
    /// The worktree.
    pub(super) tree: PathBuf,
    /// The worktree's own part of the git directory.
    pub(super) admin: PathBuf,
}

impl Repository {
    /// Finds the parts of a worktree, and sees that they belong together.
    pub(super) fn find(tree: &Path, common: &Path) -> Result<Self> {
        let common = common.canonicalize().map_err(at(common, "found"))?;
        let tree = tree.canonicalize().map_err(at(tree, "found"))?;
        let pointer = tree.join(".git");
        let text = fs::read_to_string(&pointer).map_err(at(&pointer, "read"))?;
        let admin = text.strip_prefix("gitdir: ").map(str::trim_end).map(|path| tree.join(path));
        let admin = admin.and_then(|admin| admin.canonicalize().ok());
        let belongs = |admin: &PathBuf| admin.parent() == Some(&common.join("worktrees"));
        match admin.filter(belongs) {
            Some(admin) => Ok(Self { common, tree, admin }),
            None => Err(Error::refused(
                code::SANDBOX_STATE,
                format!("{} is no worktree of {}", tree.display(), common.display()),
                "make it with `godel worktree create`",
            )),
        }
    }

    /// Begins a call of git on the repository.
    pub(super) fn git(&self) -> Git {
        Git::on(&self.common)
    }

    /// Returns the commit that a reference names.
    pub(super) fn commit(&self, revision: &str) -> Result<Option<String>> {
        let wanted = format!("{revision}^{{commit}}");
        self.git().args(&["rev-parse", "--quiet", "--verify", "--end-of-options", &wanted]).maybe()
    }

    /// Returns what a sandbox sees of the repository, given where its own git directory is.
    pub(super) fn walls(&self, state: &Path) -> Result<GitWalls> {
        Ok(GitWalls {
            own: state.join("git"),
            pointer: state.join("pointer"),
            objects: self.common.join("objects"),
            borrowed: self.borrowed()?,
        })
    }

    /// Makes the sandbox's own git directory, with HEAD detached at a commit.
    pub(super) fn furnish(
        &self,
        state: &Path,
        head: &str,
        who: &Identity,
        known: &Known,
    ) -> Result<()> {
        let own = state.join("git");
        for part in
            ["hooks", "info", "logs", "objects/info", "objects/pack", "refs/heads", "refs/tags"]
        {
            let dir = own.join(part);
            fs::create_dir_all(&dir).map_err(at(&dir, "made"))?;
        }
        let put = |name: &str, text: &str| {
            let path = own.join(name);
            fs::write(&path, text).map_err(at(&path, "written"))
        };
        put("HEAD", &format!("{head}\n"))?;
        put("config", &known.settings(who))?;
        put("packed-refs", &known.references)?;
        put("objects/info/alternates", &self.alternates()?)?;
        put("description", "the git directory of a sandbox; Godel collects what is committed\n")?;
        let pointer = state.join("pointer");
        fs::write(&pointer, format!("gitdir: {}\n", inside::GIT))
            .map_err(at(&pointer, "written"))?;
        copy(&self.admin.join("index"), &own.join("index"))?;
        copy(&self.admin.join("info/sparse-checkout"), &own.join("info/sparse-checkout"))?;
        for name in ["info/exclude", "info/attributes", "shallow"] {
            copy(&self.common.join(name), &own.join(name))?;
        }
        Ok(())
    }

    /// Asks git everything that a new sandbox needs to know, at once.
    pub(super) fn look(&self, revisions: &[&str]) -> Result<Known> {
        let asked: String = revisions.iter().map(|one| format!("{one}^{{commit}}\n")).collect();
        let (commits, references, settings) = std::thread::scope(|scope| {
            let references = scope.spawn(|| self.references());
            let settings = scope.spawn(|| self.all_settings());
            let checked = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
            let commits = self.git().args(&checked).bytes(asked.as_bytes());
            (commits, references.join(), settings.join())
        });
        let lost = |_| Error::Start {
            program: "a thread".to_owned(),
            cause: io::Error::other("it ended early"),
        };
        let text = String::from_utf8_lossy(&commits?).into_owned();
        let commit =
            |line: &str| line.strip_suffix(" commit").filter(|id| is_id(id)).map(str::to_owned);
        Ok(Known {
            commits: text.lines().map(commit).collect(),
            references: references.map_err(lost)??,
            settings: settings.map_err(lost)??,
        })
    }

    /// All settings by their names in lower case, the last of each; the worktree may have its own.
    fn all_settings(&self) -> Result<HashMap<String, String>> {
        let bytes = Git::on(&self.admin).args(&["config", "--list", "-z"]).bytes(b"")?;
        let text = String::from_utf8_lossy(&bytes);
        let pairs = text.split('\0').filter_map(|entry| entry.split_once('\n'));
        Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// The references as they are now, without those that are Godel's own, and without the branches of attempts:
    /// those who try the same learn nothing from each other.
    fn references(&self) -> Result<String> {
        let format = "--format=%(objectname) %(refname)";
        let listed = ["for-each-ref", format, "refs/heads", "refs/remotes", "refs/tags"];
        let bytes = self.git().args(&listed).bytes(b"")?;
        let text = String::from_utf8_lossy(&bytes);
        let hidden = [" refs/heads/godel/", " refs/heads/bead/attempt-"];
        let shown = text.lines().filter(|line| !hidden.iter().any(|part| line.contains(part)));
        Ok(shown.fold(String::new(), |all, line| all + line + "\n"))
    }

    /// Files and directories of the worktree that git ignores.
    pub(super) fn ignored(&self) -> Result<Vec<PathBuf>> {
        let listed =
            ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let git = Git::on(&self.admin).env("GIT_WORK_TREE", &self.tree).inside(&self.tree);
        let bytes = git.args(&listed).bytes(b"")?;
        let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path))).collect())
    }

    fn alternates(&self) -> Result<String> {
        let mut text = format!("{}\n", inside::OBJECTS);
        for path in self.borrowed()? {
            let _ = writeln!(text, "{}", path.display());
        }
        Ok(text)
    }

    /// Stores of objects that the repository itself borrows from, however long the chain.
    fn borrowed(&self) -> Result<Vec<PathBuf>> {
        let mut open = vec![self.common.join("objects")];
        let mut found: Vec<PathBuf> = Vec::new();
        while let Some(objects) = open.pop() {
            let list = objects.join("info/alternates");
            let text = match fs::read_to_string(&list) {
                Ok(text) => text,
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) => return Err(Error::file(&list, "read", cause)),
            };
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let Ok(path) = objects.join(line).canonicalize() else { continue };
                if path.is_dir() && !found.contains(&path) && found.len() < BORROWED_MAX {
                    found.push(path.clone());
                    open.push(path);
                }
            }
        }
        Ok(found)
    }
}

/// What git says about a repository, for a new sandbox.
pub(super) struct Known {
    commits: Vec<Option<String>>,
    references: String,
    settings: HashMap<String, String>,
}

impl Known {
    /// Returns the commit that was asked for at a place.
    pub(super) fn commit(&self, place: usize) -> Option<&str> {
        self.commits.get(place)?.as_deref()
    }

    /// Returns who commits here, if nobody says otherwise.
    pub(super) fn identity(&self) -> Identity {
        let one = |name: &str, other: &str| {
            self.settings.get(name).map_or(other, String::as_str).to_owned()
        };
        Identity { name: one("user.name", NAME), email: one("user.email", EMAIL) }
    }

    /// Only what is known to be harmless gets in: the rest may hold passwords and programs.
    fn settings(&self, who: &Identity) -> String {
        let asked = |name: &str| self.settings.get(name).cloned();
        let mut text = "[core]\n\tbare = false\n\tlogAllRefUpdates = true\n".to_owned();
        for name in KEPT {
            if let (Some(value), Some((_, key))) = (asked(name), name.split_once('.'))
                && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            {
                let _ = writeln!(text, "\t{key} = {value}");
            }
        }
        match asked("extensions.objectformat") {
            Some(format) if format == "sha256" => text
                .push_str("\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"),
            _ => text.push_str("\trepositoryformatversion = 0\n"),
        }
        let (name, email) = (quoted(&who.name), quoted(&who.email));
        let _ = write!(
            text,
            "[user]\n\tname = {name}\n\temail = {email}\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = \
             false\n[commit]\n\tgpgSign = false\n"
        );
        text
    }
}

/// Writes a text so that git reads the same text again.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars().filter(|character| !character.is_control()) {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    match fs::copy(from, to) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            Err(Error::file(from, "copied", cause))
        }
        _ => Ok(()),
    }
}

/// Checks that a text names a commit by its whole id.
pub(super) fn whole_id(text: &str) -> Result<&str> {
    if is_id(text) {
        return Ok(text);
    }
    let shown: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
    Err(Error::refused(
        code::BASE_NOT_FOUND,
        format!("\"{shown}\" is not the whole id of a commit"),
        "give the id as `git rev-parse` prints it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_add_a_setting() {
        assert_eq!(quoted("An\"n\\\n[core]\thooksPath = x"), r#""An\"n\\[core]hooksPath = x""#);
    }
}
