//! Paths inside of a workspace.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use godel_model::{Invalid, code};
use serde::{Deserialize, Serialize};

/// How long a path may be.
const PATH_MAX_BYTES: usize = 4_096;

/// A path below the workspace of a sandbox: relative, without `..`, not into `.git`.
///
/// That no link leads out either is seen to when a file is opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "PathBuf", into = "PathBuf")]
pub struct SandboxPath(PathBuf);

impl SandboxPath {
    /// Checks a path.
    ///
    /// # Errors
    /// If it is empty, absolute, too long, has `..`, or names something of git.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, Invalid> {
        let path = path.as_ref();
        let mut clean = PathBuf::new();
        let refuse = |why: &str| {
            let shown: String = path.to_string_lossy().chars().take(200).collect();
            Err(Invalid::new(code::PATH_REFUSED, format!("{shown:?} {why}"))
                .with_hint("give a path relative to the workspace, such as src/main.rs"))
        };
        if path.as_os_str().len() > PATH_MAX_BYTES {
            return refuse("is too long for a path");
        }
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) if name.eq_ignore_ascii_case(".git") => {
                    return refuse("belongs to git");
                }
                Component::Normal(name) if name.as_encoded_bytes().contains(&0) => {
                    return refuse("holds a zero byte");
                }
                Component::Normal(name) => clean.push(name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return refuse("leads out of the workspace");
                }
            }
        }
        if clean.as_os_str().is_empty() {
            return refuse("names no file");
        }
        Ok(Self(clean))
    }

    /// Returns the path, relative to the workspace.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl TryFrom<PathBuf> for SandboxPath {
    type Error = Invalid;

    fn try_from(path: PathBuf) -> Result<Self, Invalid> {
        Self::new(path)
    }
}

impl From<SandboxPath> for PathBuf {
    fn from(path: SandboxPath) -> Self {
        path.0
    }
}

impl fmt::Display for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_or_into_git_are_refused() {
        for good in ["a", "a/b.txt", "./a", "a//b", ".gitignore", "a/..b", "ä/ö"] {
            assert!(SandboxPath::new(good).is_ok(), "{good}");
        }
        for bad in
            ["", ".", "/", "/etc/passwd", "..", "a/../..", "a/..", ".git", "a/.GIT/x", "a\0b"]
        {
            assert!(SandboxPath::new(bad).is_err(), "{bad}");
        }
        assert!(SandboxPath::new("x".repeat(PATH_MAX_BYTES + 1)).is_err());
        assert_eq!(SandboxPath::new("./a//b/.").unwrap().as_path(), Path::new("a/b"));
    }
}
