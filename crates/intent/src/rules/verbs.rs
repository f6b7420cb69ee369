//! What a verb says about the work.

/// What kind of work a piece is. The order is that of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Work {
    /// Find something out.
    Research,
    /// Decide how it should be.
    Design,
    /// Change the shape of data.
    Schema,
    /// Something new.
    Add,
    /// Something that is there should be otherwise.
    Change,
    /// Something is wrong.
    Fix,
    /// Better code, the same behaviour.
    Refactor,
    /// Another name, everywhere.
    Rename,
    /// One thing in the place of another, everywhere.
    Replace,
    /// Another version of what others wrote.
    Upgrade,
    /// Something should go.
    Remove,
    /// Something should be faster or smaller.
    Speed,
    /// Upkeep.
    Chore,
    /// Tests for what is there.
    Test,
    /// Read and judge.
    Review,
    /// Words for people.
    Docs,
    /// Give it to people.
    Release,
}

const VERBS: [(Work, &[&str]); 17] = [
    (
        Work::Research,
        &[
            "investigate",
            "research",
            "explore",
            "evaluate",
            "compare",
            "analyze",
            "analyse",
            "understand",
            "explain",
            "assess",
            "spike",
            "diagnose",
        ],
    ),
    (
        Work::Design,
        &["design", "plan", "architect", "draft", "propose", "specify", "sketch", "decide"],
    ),
    (Work::Fix, &["fix", "repair", "debug", "resolve", "correct", "patch", "solve", "prevent"]),
    (
        Work::Refactor,
        &[
            "refactor",
            "restructure",
            "clean",
            "simplify",
            "extract",
            "split",
            "move",
            "reorganize",
            "reorganise",
            "decouple",
            "modularize",
            "deduplicate",
            "consolidate",
            "inline",
            "tidy",
            "rewrite",
            "untangle",
            "separate",
        ],
    ),
    (Work::Rename, &["rename"]),
    (Work::Replace, &["replace", "migrate", "port", "convert", "switch", "swap", "transition"]),
    (Work::Upgrade, &["upgrade", "bump"]),
    (Work::Remove, &["remove", "delete", "drop", "deprecate", "retire", "eliminate", "stop"]),
    (Work::Speed, &["optimize", "optimise", "speed", "accelerate", "profile"]),
    (Work::Test, &["test", "cover"]),
    (Work::Review, &["review", "audit", "inspect"]),
    (Work::Docs, &["document", "describe"]),
    (Work::Release, &["release", "publish", "ship", "deploy", "tag"]),
    (
        Work::Chore,
        &["lint", "format", "dockerize", "containerize", "automate", "run", "cleanup", "reformat"],
    ),
    (
        Work::Change,
        &[
            "update",
            "change",
            "improve",
            "adjust",
            "modify",
            "harden",
            "secure",
            "validate",
            "handle",
            "reduce",
            "increase",
            "limit",
            "restrict",
            "sort",
            "localize",
            "translate",
            "redesign",
            "polish",
            "check",
            "return",
            "cancel",
            "retry",
            "notify",
            "redirect",
            "hide",
            "tune",
        ],
    ),
    (Work::Schema, &[]),
    (
        Work::Add,
        &[
            "add",
            "implement",
            "build",
            "create",
            "introduce",
            "support",
            "make",
            "write",
            "develop",
            "allow",
            "enable",
            "show",
            "expose",
            "integrate",
            "provide",
            "extend",
            "set",
            "generate",
            "wire",
            "connect",
            "install",
            "configure",
            "let",
            "print",
            "send",
            "store",
            "display",
            "render",
            "log",
            "cache",
            "parse",
            "use",
            "do",
            "give",
            "save",
            "accept",
            "put",
            "cut",
        ],
    ),
];

/// Objects that are plain enough without anything else: `add tests`, `write docs`.
const ALONE: [&str; 26] = [
    "tests",
    "test",
    "docs",
    "documentation",
    "readme",
    "changelog",
    "dependencies",
    "deps",
    "ci",
    "coverage",
    "lint",
    "linter",
    "typo",
    "typos",
    "formatting",
    "license",
    "dockerfile",
    "release",
    "review",
    "audit",
    "performance",
    "security",
    "warnings",
    "logging",
    "benchmark",
    "benchmarks",
];

const EVERYWHERE: [&str; 11] = [
    "all",
    "every",
    "each",
    "across",
    "everywhere",
    "whole",
    "entire",
    "throughout",
    "codebase",
    "repository",
    "repo",
];

/// Tells whether an object is plain by itself.
pub(crate) fn stands_alone(word: &str) -> bool {
    ALONE.contains(&word)
}

/// Tells whether a word means the whole repository.
pub(crate) fn is_everywhere(word: &str) -> bool {
    EVERYWHERE.contains(&word)
}

/// Tells whether a word is a verb for work, in whichever form.
pub(crate) fn is_work_verb(word: &str) -> bool {
    of(word).is_some()
}

/// Returns the base form of a verb for work, and what work it is.
pub(crate) fn of(word: &str) -> Option<(Work, &'static str)> {
    let find = |base: &str| {
        VERBS.iter().find_map(|(work, verbs)| {
            verbs.iter().find(|verb| **verb == base).map(|verb| (*work, *verb))
        })
    };
    if let Some(found) = find(word) {
        return Some(found);
    }
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() >= 2)?;
    let doubled = stem.char_indices().last().map(|(at, _)| stem.get(..at).unwrap_or_default());
    find(stem).or_else(|| find(&format!("{stem}e"))).or_else(|| doubled.and_then(find))
}

/// Decides what work a piece is, from its verb and what it is about.
pub(crate) fn judge(verb: Option<(Work, &str)>, words: &[&str]) -> Work {
    let has = |some: &[&str]| words.iter().any(|word| some.contains(word));
    // `add a list with tests` is a list, and `add tests for a list` are tests.
    let joins = ["with", "for", "to", "in", "of", "from", "that", "into", "on"];
    let ends = words.iter().position(|word| joins.contains(word)).unwrap_or(words.len());
    let direct = words.get(..ends).unwrap_or_default();
    let is = |some: &[&str]| direct.iter().any(|word| some.contains(word));
    let (work, base) = verb.unwrap_or((Work::Change, ""));
    let makes = matches!(work, Work::Add | Work::Change);
    let tests = is(&["tests", "test", "coverage", "specs"]) && !has(&["button", "page", "mode"]);
    let docs = is(&[
        "docs",
        "documentation",
        "readme",
        "changelog",
        "guide",
        "tutorial",
        "readme.md",
        "docstrings",
        "comments",
    ]);
    let data = has(&["table", "column", "migration", "schema", "tables", "columns", "migrations"]);
    let pace = has(&[
        "performance",
        "latency",
        "faster",
        "speed",
        "slow",
        "memory",
        "throughput",
        "startup",
    ]);
    let versions = has(&["dependency", "dependencies", "deps", "version", "versions", "packages"]);
    match work {
        _ if base == "speed"
            || (matches!(base, "improve" | "reduce" | "make" | "cut" | "tune") && pace) =>
        {
            Work::Speed
        }
        _ if makes && docs => Work::Docs,
        _ if makes && tests => Work::Test,
        Work::Add
            if data
                && !has(&["html", "pricing", "ui", "sort", "sortable", "component", "view"]) =>
        {
            Work::Schema
        }
        Work::Change if base == "check" => Work::Review,
        Work::Change if base == "update" && versions => Work::Upgrade,
        Work::Remove if base == "stop" => Work::Fix,
        Work::Remove if data => Work::Schema,
        Work::Fix if has(&["typo", "typos", "spelling", "wording"]) => Work::Chore,
        Work::Add if has(&["ci", "pipeline", "dockerfile", "linter", "workflow", "pre-commit"]) => {
            Work::Chore
        }
        Work::Add if base == "use" && has(&["instead"]) => Work::Replace,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_verbs_are_known() {
        assert_eq!(of("adding"), Some((Work::Add, "add")));
        assert_eq!(of("writing"), Some((Work::Add, "write")));
        assert_eq!(of("splitting"), Some((Work::Refactor, "split")));
        assert_eq!(of("string"), None);
        assert_eq!(of("thing"), None);
        assert_eq!(of("ring"), None);
    }

    #[test]
    fn what_it_is_about_decides_with_the_verb() {
        assert_eq!(judge(of("add"), &["tests", "for", "cart"]), Work::Test);
        assert_eq!(judge(of("write"), &["a", "guide"]), Work::Docs);
        assert_eq!(judge(of("add"), &["an", "orders", "table"]), Work::Schema);
        assert_eq!(judge(of("update"), &["dependencies"]), Work::Upgrade);
        assert_eq!(judge(of("make"), &["startup", "faster"]), Work::Speed);
    }
}
