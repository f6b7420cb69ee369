//! Files that are copied into a new worktree, and the values in them that nobody may see again.
//!
//! `.godel/state/redact/<id>.json` (mode 0600) holds `{"version": 1, "values": ["..", ..]}`. Whoever
//! runs something in the worktree loads it with [`load`] and masks the values in all output with
//! [`mask`]. It is written before the first file is copied, and goes with the worktree.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use godel_model::code;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::{hex, make_inside, stays_inside};
use crate::disk;
use crate::error::{Error, Result, at};
use crate::glob::{FOUND_MAX, Pattern};
use crate::record::Copied;

/// What stands in the place of a value.
const MASK: &str = "[redacted]";
const FILE_MAX_BYTES: u64 = 16 << 20;
const VALUES_MAX: usize = 100_000;
/// Lines that are shorter say nothing, and would mask too much.
const LINE_MIN_CHARS: usize = 8;
const VALUE_MIN_CHARS: usize = 4;
/// A number below this many digits is a port or a size.
const NUMBER_MIN_DIGITS: usize = 6;
const PLAIN_WORDS: [&str; 8] =
    ["true", "false", "none", "null", "localhost", "production", "development", "test"];

#[derive(Debug, Serialize, Deserialize)]
struct Redaction {
    version: u32,
    values: BTreeSet<String>,
}

/// One file that will be copied.
pub(crate) struct Pick {
    path: PathBuf,
    bytes: Vec<u8>,
    mode: u32,
}

/// Returns where the values of a worktree are kept.
pub(crate) fn redaction_path(state: &Path, name: &crate::Name) -> PathBuf {
    state.join("redact").join(format!("{name}.json"))
}

/// Reads the values that must not be shown; none if no file was copied.
pub(crate) fn load(path: &Path) -> Result<Vec<String>> {
    let found: Option<Redaction> = disk::read_json(path)?;
    Ok(found.map(|found| found.values.into_iter().collect()).unwrap_or_default())
}

/// Masks values in a text.
pub fn mask(text: &str, values: &[String]) -> String {
    let mut longest_first: Vec<&String> = values.iter().collect();
    longest_first.sort_by_key(|value| std::cmp::Reverse(value.len()));
    longest_first.iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), MASK))
}

/// Finds the files that patterns mean, and reads them.
pub(crate) fn pick(main: &Path, patterns: &[Pattern]) -> Result<Vec<Pick>> {
    let paths: BTreeSet<PathBuf> = patterns.iter().flat_map(|pattern| pattern.find(main)).collect();
    if paths.len() > FOUND_MAX {
        return Err(refused(format!("`copy` means more than {FOUND_MAX} files")));
    }
    paths.into_iter().map(|path| read(main, path)).collect()
}

fn read(main: &Path, path: PathBuf) -> Result<Pick> {
    let from = main.join(&path);
    if !stays_inside(main, &from)? {
        let shown = path.display();
        return Err(refused(format!("{shown} leads out of the repository and is not copied")));
    }
    let about = fs::metadata(&from).map_err(at(&from, "read"))?;
    if !about.is_file() {
        return Err(refused(format!("{} is no file; {0}/* means the files in it", path.display())));
    }
    if about.len() > FILE_MAX_BYTES {
        return Err(refused(format!("{} is larger than 16 MiB", path.display())));
    }
    let bytes = fs::read(&from).map_err(at(&from, "read"))?;
    Ok(Pick { path, bytes, mode: about.permissions().mode() & 0o777 })
}

fn refused(message: String) -> Error {
    Error::refused(code::INVALID_CONFIG, message, "correct `copy` under [worktree]")
}

/// Registers what is in the files, before anybody can print it.
pub(crate) fn register(at: &Path, picks: &[Pick]) -> Result<()> {
    let mut values: BTreeSet<String> = load(at)?.into_iter().collect();
    for pick in picks {
        values.extend(values_of(&String::from_utf8_lossy(&pick.bytes)));
    }
    if values.len() > VALUES_MAX {
        return Err(refused("the files to copy have too many lines to mask".to_owned()));
    }
    disk::private_dir(at.parent().unwrap_or(Path::new(".")))?;
    disk::write_json(at, &Redaction { version: 1, values })
}

/// Copies the files; what is in the worktree already stays as it is.
pub(crate) fn copy(picks: &[Pick], tree: &Path) -> Result<Vec<Copied>> {
    let mut copied = Vec::new();
    for pick in picks {
        let to = tree.join(&pick.path);
        let parent = to.parent().unwrap_or(tree);
        if !make_inside(tree, parent)? {
            let shown = pick.path.display();
            return Err(refused(format!("{shown} would be copied out of the worktree")));
        }
        let sha256 = hex(&Sha256::digest(&pick.bytes));
        let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to);
        let written = open.and_then(|mut file| {
            file.write_all(&pick.bytes)?;
            file.set_permissions(Permissions::from_mode(pick.mode))
        });
        match written {
            Ok(()) => copied.push(Copied { path: pick.path.clone(), sha256 }),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                // After a crash it may be our own copy.
                if unchanged(tree, &pick.path, &sha256) {
                    copied.push(Copied { path: pick.path.clone(), sha256 });
                }
            }
            Err(cause) => return Err(Error::file(&to, "written", cause)),
        }
    }
    Ok(copied)
}

/// Tells whether a copied file is still what was copied.
pub(crate) fn unchanged(tree: &Path, path: &Path, sha256: &str) -> bool {
    let path = tree.join(path);
    let regular = fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
    regular && fs::read(&path).is_ok_and(|bytes| hex(&Sha256::digest(&bytes)) == sha256)
}

/// Takes the values out of a file: those behind `KEY=`, and every line that is long enough.
fn values_of(text: &str) -> BTreeSet<String> {
    let mut values = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        if line.chars().count() >= LINE_MIN_CHARS {
            values.insert(line.to_owned());
        }
        if let Some(value) = assigned(line)
            && telling(value)
        {
            values.insert(value.to_owned());
        }
    }
    values
}

/// Returns the value of a line such as `export KEY="value"  # comment`.
fn assigned(line: &str) -> Option<&str> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let named = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if key.is_empty() || !key.chars().all(named) {
        return None;
    }
    let value = value.trim();
    for quote in ['"', '\'', '`'] {
        if let Some(rest) = value.strip_prefix(quote) {
            return Some(rest.split_once(quote).map_or(rest, |(value, _)| value));
        }
    }
    Some(value.split_once(" #").map_or(value, |(value, _)| value.trim_end()))
}

fn telling(value: &str) -> bool {
    let number = value.chars().all(|c| c.is_ascii_digit());
    let length = value.chars().count();
    length >= if number { NUMBER_MIN_DIGITS } else { VALUE_MIN_CHARS }
        && !PLAIN_WORDS.contains(&value.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_dotenv_writes_them() {
        let text = "# TOKEN=commented-out\nTOKEN=abc123\nexport KEY=\"quo ted\" # why\n\
                    PORT=3000\nDEBUG=true\nA='x=y=z'\nplain-secret-line\nshort\n\
                    URL=postgres://u:p@h/db # main\nKEY WITH SPACE=nothing\nEMPTY=\n";
        let values = values_of(text);
        for value in [
            "abc123",
            "quo ted",
            "x=y=z",
            "plain-secret-line",
            "postgres://u:p@h/db",
            "TOKEN=abc123",
        ] {
            assert!(values.contains(value), "{value}: {values:?}");
        }
        for value in ["3000", "true", "short", "commented-out", "nothing", ""] {
            assert!(!values.contains(value), "{value}: {values:?}");
        }
    }

    #[test]
    fn the_longest_value_is_masked_first() {
        let values = ["secret".to_owned(), "secret-and-more".to_owned()];
        assert_eq!(mask("a secret-and-more b secret", &values), "a [redacted] b [redacted]");
    }

    #[test]
    fn a_file_behind_a_link_out_of_the_repository_is_not_copied() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (main, tree) = (home.join("main"), home.join("tree"));
        fs::create_dir_all(main.join("dir")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(home.join("outside"), "x").unwrap();
        fs::write(main.join("dir/.env"), "K=value").unwrap();
        std::os::unix::fs::symlink(home.join("outside"), main.join(".env")).unwrap();
        let find = |text: &str| pick(&main, &[Pattern::new(text).unwrap()]);
        assert!(find(".env").is_err());
        assert!(find("dir").is_err());
        let picks = find("dir/.env").unwrap();
        // The branch may have a link where the directory should be.
        std::os::unix::fs::symlink(&home, tree.join("dir")).unwrap();
        assert!(copy(&picks, &tree).is_err());
        fs::create_dir(main.join("dir/sub")).unwrap();
        fs::write(main.join("dir/sub/.env"), "K=value").unwrap();
        assert!(copy(&find("dir/sub/.env").unwrap(), &tree).is_err());
        assert!(!home.join("sub").exists(), "nothing is made outside");
        assert!(!home.join(".env").exists());
        fs::remove_file(tree.join("dir")).unwrap();
        assert_eq!(copy(&picks, &tree).unwrap().len(), 1);
        assert_eq!(fs::read_to_string(tree.join("dir/.env")).unwrap(), "K=value");
    }
}
