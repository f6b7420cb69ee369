//! Patterns of paths inside a repository, such as `.env` or `config/*.local.toml`.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// How many files one pattern may find.
pub(crate) const FOUND_MAX: usize = 1_000;

/// A pattern: `*` and `?` within a name, `**` for any number of directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<String>);

/// Checks that a path stays inside the repository and out of what belongs to git and to Godel.
pub(crate) fn inside(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let normal = |part: Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
            false
        }
    };
    if text.is_empty() || text.contains(['\\', '\0', '\n']) || !path.components().all(normal) {
        return Err(format!("\"{text}\" must be a path inside the repository, and not in .git"));
    }
    if path.starts_with(".godel") {
        return Err(format!("\"{text}\" belongs to Godel"));
    }
    Ok(path.components().collect())
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let path = inside(text)?;
        let names = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        Ok(Self(names.collect()))
    }

    /// Tells whether a path, or a directory that it is in, is meant.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
        (1..=names.len()).any(|end| fits(&self.0, &names[..end]))
    }

    /// Finds the files under a directory that are meant; no symbolic link is entered on the way.
    pub(crate) fn find(&self, root: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        search(root, Path::new(""), &self.0, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn fits<T: AsRef<str>>(pattern: &[String], names: &[T]) -> bool {
    match (pattern.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            fits(rest, names) || names.split_first().is_some_and(|(_, more)| fits(pattern, more))
        }
        (Some((first, rest)), Some((name, more))) => {
            matches(first, name.as_ref()) && fits(rest, more)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Matches one name; linear but for the one star that is tried again.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star = None;
    while at < name.len() {
        match pattern.get(from) {
            Some('*') => {
                star = Some((from, at));
                from += 1;
            }
            Some(c) if *c == '?' || *c == name[at] => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some((back, taken)) => {
                    star = Some((back, taken + 1));
                    (from, at) = (back + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[from..].iter().all(|c| *c == '*')
}

fn search(root: &Path, below: &Path, pattern: &[String], found: &mut Vec<PathBuf>) {
    let Some((first, rest)) = pattern.split_first() else {
        return;
    };
    if found.len() > FOUND_MAX {
        return;
    }
    if first == "**" {
        search(root, below, rest, found);
    }
    let wild = first.contains(['*', '?']);
    let names: Vec<String> = match wild {
        false => vec![first.clone()],
        true => fs::read_dir(root.join(below))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name != ".git" && !(below.as_os_str().is_empty() && name == ".godel"))
            .filter(|name| first == "**" || matches(first, name))
            .collect(),
    };
    for name in names {
        let path = below.join(name);
        let Ok(there) = fs::symlink_metadata(root.join(&path)) else {
            continue;
        };
        if first == "**" {
            if there.is_dir() {
                search(root, &path, pattern, found);
            }
        } else if rest.is_empty() {
            // A wildcard means files; a directory that is named is for the caller to judge.
            if !wild || !there.is_dir() {
                found.push(path);
            }
        } else if there.is_dir() {
            search(root, &path, rest, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern).unwrap().covers(Path::new(path))
    }

    #[test]
    fn patterns_match_as_people_expect() {
        for (pattern, path, yes) in [
            (".env", ".env", true),
            (".env", "a/.env", false),
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("*.toml", "a.toml", true),
            ("*.toml", "a/b.toml", false),
            ("a/*/c?", "a/b/cd", true),
            ("a/*/c?", "a/b/c", false),
            ("notes", "notes/deep/x.md", true),
            ("notes/**", "notes/deep/x.md", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbX", false),
            ("*", "x", true),
        ] {
            assert_eq!(covers(pattern, path), yes, "{pattern} {path}");
        }
    }

    #[test]
    fn nothing_outside_the_repository_can_be_meant() {
        for bad in ["", "/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT/x", ".godel/x"] {
            assert!(Pattern::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn files_are_found_without_entering_links() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        for dir in ["a/b", "c", ".git", "out"] {
            fs::create_dir_all(root.join(dir)).unwrap();
        }
        for file in [".env", "a/.env", "a/b/.env", "c/x", ".git/.env", "out/.env"] {
            fs::write(root.join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(root.join("out"), root.join("c/link")).unwrap();
        let find = |pattern: &str| Pattern::new(pattern).unwrap().find(root);
        assert_eq!(find(".env"), [Path::new(".env")]);
        assert_eq!(find("**/.env").len(), 4);
        assert_eq!(find("c/*"), [Path::new("c/link"), Path::new("c/x")]);
        assert_eq!(find("c/*/.env"), Vec::<PathBuf>::new());
        assert_eq!(find("none"), Vec::<PathBuf>::new());
    }
}
