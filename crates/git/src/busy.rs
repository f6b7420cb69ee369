//! Who uses a worktree: processes in it, and what is mounted in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// How many processes are named.
const NAMED_MAX: usize = 5;

/// Names the processes that work in a directory or have a file in it open, as far as this user may
/// see them. Only Linux tells.
pub(crate) fn processes(tree: &Path) -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if id == own || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        if uses(&entry.path(), tree) {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(format!("{} ({id})", name.trim()));
            if found.len() == NAMED_MAX {
                break;
            }
        }
    }
    found
}

fn uses(process: &Path, tree: &Path) -> bool {
    let leads = |link: PathBuf| fs::read_link(link).is_ok_and(|path| path.starts_with(tree));
    leads(process.join("cwd"))
        || fs::read_dir(process.join("fd"))
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| leads(entry.path()))
}

/// Lists what is mounted in a directory, the innermost first.
pub(crate) fn mounts(tree: &Path) -> Vec<PathBuf> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let lines = table.split(|byte| *byte == b'\n');
    let mut found: Vec<PathBuf> = lines
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(unescape)
        .filter(|path| path.starts_with(tree))
        .collect();
    found.reverse();
    found
}

/// Reads a path as the kernel writes it: blanks and such as three octal digits.
fn unescape(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|digits| digits.iter().all(|d| (b'0'..b'8').contains(d)));
        match (first, digits) {
            (b'\\', Some(digits)) => {
                let value =
                    digits.iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
                rest = &more[3..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_kernel_are_read_with_their_blanks() {
        assert_eq!(unescape(br"/a\040b/c\134d"), Path::new("/a b/c\\d"));
        assert_eq!(unescape(br"/plain\"), Path::new("/plain\\"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_found_by_where_it_works() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        assert_eq!(processes(&home), Vec::<String>::new());
        let mut sleep = std::process::Command::new("sleep").arg("60").current_dir(&home).spawn();
        let sleep = sleep.as_mut().unwrap();
        let found = processes(&home);
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(&sleep.id().to_string()));
    }
}
