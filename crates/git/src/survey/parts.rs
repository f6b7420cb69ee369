//! What a repository consists of: the folders and modules that somebody can work on by themselves.

use std::collections::{BTreeMap, BTreeSet};

use godel_model::{Part, PartKind};

use super::{File, count, words};

/// How many parts are told of.
const PARTS_MAX: usize = 64;

/// Folders whose folders and files are the parts.
const SHELVES: [&str; 14] = [
    "src",
    "lib",
    "crates",
    "packages",
    "apps",
    "services",
    "modules",
    "cmd",
    "internal",
    "pkg",
    "libs",
    "plugins",
    "components",
    "source",
];

/// Finds the parts, the largest first.
pub(crate) fn parts(files: &[File]) -> Vec<Part> {
    let files: Vec<&File> = files.iter().filter(|file| counts(&file.path)).collect();
    let alone = alone(&files);
    let mut found: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for file in &files {
        let (number, lines) = found.entry(place(&file.path, alone.as_deref())).or_default();
        (*number, *lines) = (*number + 1, *lines + file.lines());
    }
    // A file at the top that is no program (a licence, a lock) is no part.
    let folders: BTreeSet<&str> =
        files.iter().filter_map(|file| file.path.split_once('/')).map(|(top, _)| top).collect();
    found.retain(|path, _| {
        path.contains('/') || folders.contains(path.as_str()) || words::language(path).is_some()
    });
    let mut parts: Vec<Part> =
        found.into_iter().map(|(path, (number, lines))| part(path, number, lines)).collect();
    parts.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
    parts.truncate(PARTS_MAX);
    parts
}

fn counts(path: &str) -> bool {
    !words::foreign(path) && (!path.starts_with('.') || path.starts_with(".github/"))
}

/// Returns the one folder at the top that holds the program, if it is one.
fn alone(files: &[&File]) -> Option<String> {
    let code = files
        .iter()
        .filter(|file| words::language(&file.path).is_some() && kind(&file.path) == PartKind::Code);
    let tops: BTreeSet<&str> =
        code.filter_map(|file| file.path.split_once('/')).map(|(top, _)| top).collect();
    let mut tops = tops.into_iter();
    tops.next().filter(|_| tops.next().is_none()).map(str::to_owned)
}

/// Returns the part that a file belongs to.
fn place(path: &str, alone: Option<&str>) -> String {
    let Some((top, rest)) = path.split_once('/') else {
        return path.to_owned();
    };
    let shelf = SHELVES.contains(&top) || alone == Some(top);
    if !shelf || kind(path) != PartKind::Code && kind(top) != PartKind::Code {
        return top.to_owned();
    }
    let inner = rest.split_once('/').map_or(rest, |(inner, _)| inner);
    // What only holds a crate or a package together belongs to it.
    if matches!(inner, "__init__.py" | "mod.rs" | "index.js" | "index.ts") {
        return top.to_owned();
    }
    format!("{top}/{inner}")
}

fn part(path: String, files: u64, lines: u64) -> Part {
    let last = words::name(&path);
    let name = match last.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => last.to_owned(),
    };
    Part { name, kind: kind(&path), files: files.max(count(1)), lines, path }
}

/// Tells what a place is for, by the words of its path.
fn kind(path: &str) -> PartKind {
    let mut words = path.split('/').map(|word| word.split_once('.').map_or(word, |(stem, _)| stem));
    words
        .find_map(|word| match word {
            "test" | "tests" | "__tests__" | "spec" | "specs" | "e2e" => Some(PartKind::Tests),
            "doc" | "docs" | "documentation" | "README" | "CHANGELOG" => Some(PartKind::Docs),
            "migrations" | "migration" | "schema" | "schemas" | "sql" => Some(PartKind::Schema),
            "" | "ci" | "scripts" | "deploy" | "infra" | "docker" | "tools" | "hack" => {
                Some(PartKind::Chores)
            }
            _ => None,
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<(String, PartKind)> {
        let file =
            |path: &&str| File { path: (*path).to_owned(), bytes: 64, object: String::new() };
        let files: Vec<File> = paths.iter().map(file).collect();
        let mut parts: Vec<_> =
            parts(&files).into_iter().map(|part| (part.path, part.kind)).collect();
        parts.sort_by(|a, b| a.0.cmp(&b.0));
        parts
    }

    #[test]
    fn folders_of_packages_are_looked_into_and_others_are_not() {
        let parts = named(&[
            "packages/api/index.ts",
            "packages/web/src/app.tsx",
            "docs/a.md",
            "tests/x.ts",
            "node_modules/q/index.js",
            "LICENSE",
            ".gitignore",
            "server.js",
        ]);
        let expected = [
            ("docs", PartKind::Docs),
            ("packages/api", PartKind::Code),
            ("packages/web", PartKind::Code),
            ("server.js", PartKind::Code),
            ("tests", PartKind::Tests),
        ];
        assert_eq!(parts, expected.map(|(path, kind)| (path.to_owned(), kind)));
    }

    #[test]
    fn the_modules_of_the_only_package_are_the_parts() {
        let parts = named(&[
            "shop/__init__.py",
            "shop/cart.py",
            "shop/auth/login.py",
            "tests/test_cart.py",
        ]);
        let paths: Vec<&str> = parts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["shop", "shop/auth", "shop/cart.py", "tests"]);
    }
}
