//! Asks git what differs: one process for all files and their lines.

use std::io::Read as _;

use godel_model::code;

use super::Reviewing;
use super::changes::{Changes, FileChange};
use super::{key, patch, raw};
use crate::error::{Error, Result};
use crate::git::{Git, failed};

/// How many files one change has at most.
const FILES_MAX: usize = 50_000;
/// How much git may write about one change; what is beyond is decided file by file.
const PATCH_MAX_BYTES: u64 = 64 << 20;
/// Larger files count as binary.
pub(super) const FILE_MAX_BYTES: u64 = 8 << 20;
/// Beyond so many files git does not look for renames by content.
const RENAMES_MAX: &str = "-l2000";

/// What the user's settings would change about a patch, and must not.
pub(super) const PLAIN: [&str; 10] = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--submodule=short",
    "--ignore-submodules=none",
    RENAMES_MAX,
];

/// The same, where git has no option for it.
pub(super) fn settings() -> Vec<String> {
    vec![
        "diff.suppressBlankEmpty=false".to_owned(),
        "diff.noprefix=false".to_owned(),
        "diff.mnemonicPrefix=false".to_owned(),
        "core.attributesFile=/dev/null".to_owned(),
        format!("core.bigFileThreshold={FILE_MAX_BYTES}"),
    ]
}

impl Reviewing<'_> {
    /// Reads what differs between two commits; the words are not marked yet.
    ///
    /// # Errors
    /// If one of them is no commit, there are too many files, or git fails.
    pub fn changes(&self, base: &str, head: &str) -> Result<Changes> {
        let repo = self.repo();
        let (base, head) = (self.exact(base)?, self.exact(head)?);
        let git = repo.ask().settings(&settings()).env("GIT_ATTR_SOURCE", &head);
        let git = git.args(["diff-tree", "-r", "-M", "--raw", "-p", "-z", "--full-index"]);
        let (bytes, whole) = limited(git.args(PLAIN).args([&base, &head]), PATCH_MAX_BYTES)?;
        let (mut files, rest) = raw::files(&bytes);
        if files.len() > FILES_MAX {
            return Err(Error::refused(
                code::INVALID_FIELD,
                format!("the change has more than {FILES_MAX} files"),
                "let the agent divide its work into several beads",
            ));
        }
        patch::fill(&mut files, rest, whole);
        self.measure(&mut files)?;
        self.ask_who_wrote(&mut files, &head)?;
        files.iter_mut().for_each(key::assign);
        Ok(Changes { cut: files.iter().any(|file| file.cut), base, head, files })
    }

    /// Tells how large files are whose lines are not shown.
    fn measure(&self, files: &mut [FileChange]) -> Result<()> {
        let unseen = |file: &&mut FileChange| file.binary || file.cut;
        let sides = files.iter_mut().filter(unseen);
        let mut sides: Vec<_> = sides
            .flat_map(|file| [file.old.as_mut(), file.new.as_mut()])
            .flatten()
            .filter(|side| side.mode != "160000")
            .collect();
        if sides.is_empty() {
            return Ok(());
        }
        let ids: String = sides.iter().map(|side| format!("{}\n", side.id)).collect();
        let asked = ["cat-file", "--batch-check=%(objectsize)", "--buffer"];
        let told = self.repo().ask().args(asked).input(ids).line()?;
        for (side, size) in sides.iter_mut().zip(told.lines()) {
            side.size = size.parse().ok();
        }
        for file in files.iter_mut().filter(|file| file.binary) {
            let sizes = [&file.old, &file.new].into_iter().flatten().filter_map(|side| side.size);
            file.cut = sizes.max().is_some_and(|size| size > FILE_MAX_BYTES);
        }
        Ok(())
    }

    /// Asks the attributes of the commit which files a program wrote.
    fn ask_who_wrote(&self, files: &mut [FileChange], head: &str) -> Result<()> {
        let mut names = Vec::new();
        for file in files.iter() {
            names.extend_from_slice(&file.name);
            names.push(0);
        }
        let git = self.repo().ask().settings(&settings()).env("GIT_ATTR_SOURCE", head);
        let git = git.args(["check-attr", "-z", "--stdin", "linguist-generated"]).input(names);
        // It only folds files up; a git that cannot tell shows them.
        let told = git.bytes().unwrap_or_default();
        let parts: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
        for (file, part) in files.iter_mut().zip(parts.chunks_exact(3)) {
            match part[2] {
                b"set" | b"true" => file.generated = true,
                b"unset" | b"false" => file.generated = false,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Runs git and reads what it writes, up to a limit; tells whether that was all.
fn limited(git: Git<'_>, most: u64) -> Result<(Vec<u8>, bool)> {
    let mut child = git.spawn()?;
    drop(child.stdin.take());
    let mut bytes = Vec::new();
    let Some(output) = child.stdout.take() else { return Ok((bytes, false)) };
    output.take(most).read_to_end(&mut bytes).map_err(Error::Missing)?;
    let whole = u64::try_from(bytes.len()).is_ok_and(|read| read < most);
    if !whole {
        // It has more to say than anybody reads.
        child.kill().ok();
    }
    let output = child.wait_with_output().map_err(Error::Missing)?;
    match whole && !output.status.success() {
        true => Err(failed("diff-tree".to_owned(), &output)),
        false => Ok((bytes, whole)),
    }
}
