//! Names of worktrees.

use std::fmt;
use std::str::FromStr;

use godel_model::{Invalid, code};
use serde::{Deserialize, Serialize};

/// How long a name may be.
const NAME_MAX: usize = 64;

/// The name of a worktree: safe as a file name, as a part of a branch and as an argument.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the branch of the worktree, such as `bead/godel-a1b2c`.
    pub fn branch(&self) -> String {
        format!("bead/{}", self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        let good = (1..=NAME_MAX).contains(&text.len())
            && text.chars().all(known)
            && !text.starts_with(['-', '.'])
            && !text.ends_with('.')
            && !text.ends_with(".lock")
            && !text.contains("..");
        if good {
            return Ok(Self(text.to_owned()));
        }
        let shown: String = text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
        Err(Invalid::new(code::INVALID_NAME, format!("\"{shown}\" cannot name a worktree"))
            .with_hint(
                "use 1 to 64 of a-z, 0-9, - _ and . ; not - or . first, not . or .lock last, no ..",
            ))
    }
}

impl TryFrom<String> for Name {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_escape_or_mislead_are_refused() {
        for good in ["a", "godel-a1b2c", "v1.2_x", "0", &"x".repeat(64)] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "-rf",
            ".git",
            "a..b",
            "a.lock",
            "a.",
            "A",
            "ä",
            "a b",
            "a\n",
            "a\0",
            "a:b",
            "a~1",
            "a^",
            "a*",
            "@{",
            &"x".repeat(65),
        ] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }
}
