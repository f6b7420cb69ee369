//! What the name of a file tells.

use std::collections::{HashMap, HashSet};

/// Files that can say how tests are run.
pub(crate) const TELLING: [&str; 4] = ["package.json", "Makefile", "pyproject.toml", "setup.cfg"];

/// The first of these that is there runs the tests.
const SCRIPTS: [&str; 6] =
    ["test.sh", "run-tests.sh", "run_tests.sh", "tests/run.sh", "test/run.sh", "scripts/test.sh"];

const LANGUAGES: [(&str, &[&str]); 22] = [
    ("Rust", &["rs"]),
    ("Python", &["py", "pyi"]),
    ("TypeScript", &["ts", "tsx", "mts"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("Go", &["go"]),
    ("Java", &["java"]),
    ("Kotlin", &["kt", "kts"]),
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "hpp", "hh"]),
    ("C#", &["cs"]),
    ("Ruby", &["rb"]),
    ("PHP", &["php"]),
    ("Swift", &["swift"]),
    ("Scala", &["scala"]),
    ("Elixir", &["ex", "exs"]),
    ("Shell", &["sh", "bash"]),
    ("SQL", &["sql"]),
    ("HTML", &["html", "htm", "vue", "svelte"]),
    ("CSS", &["css", "scss", "less"]),
    ("Lua", &["lua"]),
    ("Zig", &["zig"]),
    ("Dart", &["dart"]),
];

/// Folders with what others wrote or what was built.
const FOREIGN: [&str; 10] = [
    "node_modules",
    "vendor",
    "third_party",
    "target",
    "dist",
    "build",
    "__pycache__",
    ".venv",
    ".git",
    "coverage",
];

/// Returns the language of a file.
pub(crate) fn language(path: &str) -> Option<&'static str> {
    let (stem, ending) = name(path).rsplit_once('.')?;
    if stem.is_empty() || stem.ends_with(".min") {
        return None;
    }
    let known = LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending));
    known.map(|(language, _)| *language)
}

/// Tells whether others wrote a file, or a program did.
pub(crate) fn foreign(path: &str) -> bool {
    path.split('/').rev().skip(1).any(|folder| FOREIGN.contains(&folder))
}

/// Tells whether a file is a test by its name or place.
pub(crate) fn is_test(path: &str) -> bool {
    let folder = |word: &str| matches!(word, "test" | "tests" | "__tests__" | "spec" | "specs");
    let name = name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let by_name = stem.starts_with("test_")
        || ["_test", "_tests", ".test", ".spec", "_spec", "Test"]
            .iter()
            .any(|end| stem.ends_with(end));
    let known = language(path).is_some();
    known && (by_name || path.split('/').rev().skip(1).any(folder) || stem == "test")
}

/// Says how tests are run, from what is there and what the telling files say.
pub(crate) fn command(
    names: &HashSet<&str>,
    told: &HashMap<&str, String>,
    has_tests: bool,
) -> Option<String> {
    let has = |name: &str| names.contains(name);
    let says = |name: &str, word: &str| told.get(name).is_some_and(|text| text.contains(word));
    let found = if has("Cargo.toml") {
        "cargo test"
    } else if has("go.mod") {
        "go test ./..."
    } else if says("package.json", "\"test\"") {
        match () {
            () if has("pnpm-lock.yaml") => "pnpm test",
            () if has("yarn.lock") => "yarn test",
            () => "npm test",
        }
    } else if python(names, told, has_tests) {
        "pytest"
    } else if told.get("Makefile").is_some_and(|text| text.lines().any(is_test_target)) {
        "make test"
    } else if has("pom.xml") {
        "mvn test"
    } else if has("build.gradle") || has("build.gradle.kts") {
        "./gradlew test"
    } else if has("mix.exs") {
        "mix test"
    } else if has("Gemfile") && has_tests {
        "bundle exec rake test"
    } else {
        return SCRIPTS.iter().find(|script| has(script)).map(|script| format!("sh {script}"));
    };
    Some(found.to_owned())
}

fn python(names: &HashSet<&str>, told: &HashMap<&str, String>, has_tests: bool) -> bool {
    let has = |name: &str| names.contains(name);
    let project =
        has("pyproject.toml") || has("setup.py") || has("setup.cfg") || has("requirements.txt");
    has("pytest.ini")
        || has("conftest.py")
        || has("tests/conftest.py")
        || told.values().any(|text| text.contains("pytest"))
        || (project && has_tests)
}

fn is_test_target(line: &str) -> bool {
    line.strip_prefix("test").is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Returns the last word of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names: &[&str], files: &[(&'static str, &str)], has_tests: bool) -> Option<String> {
        let names = names.iter().copied().chain(files.iter().map(|(name, _)| *name)).collect();
        let told = files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        command(&names, &told, has_tests)
    }

    #[test]
    fn the_command_for_tests_follows_from_what_is_there() {
        assert_eq!(told(&["Cargo.toml"], &[], false).as_deref(), Some("cargo test"));
        assert_eq!(told(&["go.mod"], &[], false).as_deref(), Some("go test ./..."));
        let script = ("package.json", r#"{"scripts": {"test": "vitest"}}"#);
        assert_eq!(told(&[], &[script], false).as_deref(), Some("npm test"));
        assert_eq!(told(&["pnpm-lock.yaml"], &[script], false).as_deref(), Some("pnpm test"));
        assert_eq!(told(&[], &[("package.json", "{}")], false), None);
        assert_eq!(told(&["requirements.txt"], &[], true).as_deref(), Some("pytest"));
        assert_eq!(told(&["requirements.txt"], &[], false), None);
        assert_eq!(
            told(&[], &[("Makefile", "all:\ntest: all\n")], false).as_deref(),
            Some("make test")
        );
        assert_eq!(told(&[], &[("Makefile", "testing:\n")], false), None);
        assert_eq!(told(&["test.sh"], &[], false).as_deref(), Some("sh test.sh"));
        assert_eq!(told(&["README.md"], &[], false), None);
    }

    #[test]
    fn a_test_is_known_by_its_name_or_its_folder() {
        for path in
            ["tests/a.rs", "web/src/cart.test.ts", "pkg/cart_test.go", "test_cart.py", "test.sh"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/contest.rs", "tests/data.json", "latest.py", "src/test"] {
            assert!(!is_test(path), "{path}");
        }
        assert!(foreign("web/node_modules/a/index.js") && !foreign("build"));
        assert_eq!((language("a/b.tsx"), language("jquery.min.js")), (Some("TypeScript"), None));
    }
}
