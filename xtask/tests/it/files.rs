//! Rules about source files: their size, and the lints of their crate.

use std::fs;
use std::path::Path;

use crate::workspace::Workspace;

const CRATE_LINES: usize = 15_000;
const FILE_LINES: usize = 500;
/// For tests and other files that are read in pieces.
const LONG_FILE_LINES: usize = 800;

/// One Rust file.
pub(crate) struct Source {
    pub(crate) member: String,
    /// The path inside the crate.
    pub(crate) path: String,
    pub(crate) lines: usize,
}

/// Finds the Rust files of every crate.
pub(crate) fn sources(workspace: &Workspace) -> Vec<Source> {
    let mut sources = Vec::new();
    for member in &workspace.members {
        collect(&member.name, &member.folder, &member.folder, &mut sources);
    }
    sources
}

fn collect(member: &str, base: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "target" {
                collect(member, base, &path, sources);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            sources.push(Source {
                member: member.to_owned(),
                path: path.strip_prefix(base).unwrap().to_string_lossy().into_owned(),
                lines: fs::read_to_string(&path).unwrap().lines().count(),
            });
        }
    }
}

/// Complains about crates and files that have grown too long.
pub(crate) fn check_sizes(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut members: Vec<&str> = sources.iter().map(|source| source.member.as_str()).collect();
    members.sort_unstable();
    members.dedup();
    for member in members {
        // What is built as one; tests are a program of their own, and each of their files is short.
        let built =
            |source: &&Source| source.member == member && !source.path.starts_with("tests/");
        let own = sources.iter().filter(built);
        let lines: usize = own.map(|source| source.lines).sum();
        if lines >= CRATE_LINES {
            complaints
                .push(format!("{member} has {lines} lines: below {CRATE_LINES}, or divide it"));
        }
    }
    for source in sources {
        let generated = source.path.ends_with(".gen.rs");
        let (most, than) = match source.path.starts_with("tests/") || generated {
            true => (LONG_FILE_LINES - 1, LONG_FILE_LINES),
            false => (FILE_LINES, FILE_LINES + 1),
        };
        if source.lines > most {
            let Source { member, path, lines } = source;
            complaints
                .push(format!("{member}: {path} has {lines} lines: below {than}, or divide it"));
        }
    }
    complaints
}

/// Complains about manifests (name and text) without `[lints] workspace = true`.
pub(crate) fn check_lints(manifests: &[(String, String)]) -> Vec<String> {
    let takes = |text: &str| {
        let manifest: toml::Table = text.parse().unwrap();
        manifest.get("lints").and_then(|lints| lints.get("workspace")) == Some(&true.into())
    };
    let without = manifests.iter().filter(|(_, text)| !takes(text));
    without.map(|(name, _)| format!("{name} does not take the lints of the workspace")).collect()
}

mod tests {
    use super::*;

    fn source(member: &str, path: &str, lines: usize) -> Source {
        Source { member: member.to_owned(), path: path.to_owned(), lines }
    }

    #[test]
    fn small_ones_pass() {
        let sources = [
            source("a", "src/lib.rs", 500),
            source("a", "tests/it/main.rs", 799),
            source("b", "src/wire.gen.rs", 799),
        ];
        assert_eq!(check_sizes(&sources), Vec::<String>::new());
    }

    #[test]
    fn long_files_are_found() {
        for (path, lines) in
            [("src/lib.rs", 501), ("tests/it/main.rs", 800), ("src/wire.gen.rs", 800)]
        {
            assert_eq!(check_sizes(&[source("a", path, lines)]).len(), 1, "{path}");
        }
    }

    #[test]
    fn a_crate_is_the_sum_of_its_files() {
        let files = |count| -> Vec<Source> {
            (0..count).map(|n| source("a", &format!("src/{n}.rs"), 500)).collect()
        };
        assert!(check_sizes(&files(29)).is_empty());
        assert_eq!(check_sizes(&files(30)).len(), 1);
    }

    #[test]
    fn a_manifest_with_its_own_lints_is_found() {
        let manifest = |text: &str| vec![("a".to_owned(), text.to_owned())];
        assert!(check_lints(&manifest("[lints]\nworkspace = true\n")).is_empty());
        for text in [
            "[package]\nname = 'a'\n",
            "[lints]\nworkspace = false\n",
            "[lints.rust]\nx = 'warn'\n",
        ] {
            assert_eq!(check_lints(&manifest(text)).len(), 1, "{text}");
        }
    }
}
