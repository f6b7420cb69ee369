//! Steps that cargo does: format, lints, build, tests.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use crate::counts::{self, Counts};
use crate::engines::Engines;
use crate::failure::{Failure, Result};
use crate::report::Done;
use crate::shop::Shop;
use crate::steps::secrets;
use crate::tools;

/// Checks the format of all Rust code.
pub(crate) fn format(shop: &Shop) -> Result<Done> {
    shop.captured("fmt", &mut shop.cargo(&["fmt", "--all", "--check"]))
        .map_err(|failure| failure.hint("`cargo fmt --all` puts it right"))?;
    Ok(Done::default())
}

/// Runs the lints, each warning an error.
pub(crate) fn lints(shop: &Shop) -> Result<Done> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--no-deps", "--", "-D", "warnings"];
    shop.captured("clippy", &mut shop.cargo(&arguments))?;
    Ok(Done::default())
}

/// Builds the `godel` program, and the provider that it is tried with.
pub(crate) fn build(shop: &Shop) -> Result<Done> {
    let programs = ["build", "--bin", "godel", "--bin", "godel-scripted"];
    shop.captured("build", &mut shop.cargo(&programs))?;
    Ok(Done::default())
}

/// Runs every Rust test against the given servers.
pub(crate) fn tests(shop: &Shop, engines: &Engines) -> Result<Done> {
    let nextest = has_nextest();
    let mut command = if nextest {
        let arguments = ["nextest", "run", "--workspace", "--no-fail-fast", "--failure-output"];
        let mut command = shop.cargo(&arguments);
        command.args(["final", "--test-threads", &at_once(cores()).to_string()]);
        if shop.ci {
            // A machine that is short of time for a moment is no defect; what fails twice is, and what was tried
            // again is told.
            command.args(["--retries", "1"]);
        }
        command
    } else {
        shop.cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    };
    engines.tell(&mut command, &shop.godel("debug"));
    command.env(secrets::VARIABLE, secrets::clear(shop)?);
    let output = shop.captured("tests", &mut command)?;
    if !nextest {
        return counted(counts::of_cargo_test(&output));
    }
    let done = counted(counts::of_nextest(&output))?;
    let again = counts::tried_again(&output);
    let note = (!again.is_empty()).then(|| format!("tried again: {}", again.join(", ")));
    Ok(Done { note: note.unwrap_or(done.note), ..done })
}

/// How many tests run at a time: much of their time is waiting for disks, servers and agents.
fn at_once(cores: usize) -> usize {
    cores + cores / 2
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs the examples in doc comments, if there are any.
pub(crate) fn doc_tests(shop: &Shop) -> Result<Done> {
    if !has_examples(&shop.root.join("crates")) {
        return Ok(Done::noted("no doc comment has an example"));
    }
    let output = shop.captured("doc-tests", &mut shop.cargo(&["test", "--doc", "--workspace"]))?;
    counted(counts::of_cargo_test(&output))
}

/// Whether the faster test runner is installed.
pub(crate) fn has_nextest() -> bool {
    tools::has("cargo-nextest")
}

/// A green run without a count means that we cannot read it, not that all is well.
pub(super) fn counted(counts: Option<Counts>) -> Result<Done> {
    match counts {
        Some(counts) if counts.failed == 0 => Ok(Done::counted(counts)),
        Some(counts) => Err(Failure::new(format!("{} tests failed", counts.failed))),
        None => Err(Failure::new("the tests ended well but said no count")
            .hint("see xtask/src/counts.rs for how the count is read")),
    }
}

fn has_examples(folder: &Path) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return path.file_name().is_some_and(|name| name != "tests") && has_examples(&path);
        }
        path.extension().is_some_and(|end| end == "rs")
            && fs::read_to_string(&path).is_ok_and(|text| shows_example(&text))
    })
}

/// Whether some doc comment opens a block that rustdoc would run.
fn shows_example(text: &str) -> bool {
    let mut inside = false;
    text.lines().any(|line| {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(fence) = doc.and_then(|doc| doc.trim_start().strip_prefix("```")) else {
            return false;
        };
        inside = !inside;
        let other = ["text", "ignore", "json", "sh", "sql", "toml", "console"];
        inside && !other.iter().any(|language| fence.starts_with(language))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_run_are_examples() {
        assert!(shows_example("/// Adds.\n/// ```\n/// assert!(true);\n/// ```\n"));
        assert!(shows_example("//! ```no_run\n//! ```\n"));
        assert!(!shows_example("/// ```text\n/// plain\n/// ```\n"));
        assert!(!shows_example("// ```\nlet x = \"```\";\n"));
    }

    #[test]
    fn a_green_run_without_a_count_is_not_believed() {
        assert!(counted(None).is_err());
        assert!(counted(Some(Counts { passed: 1, failed: 1, skipped: 0 })).is_err());
        assert!(counted(Some(Counts { passed: 1, failed: 0, skipped: 0 })).is_ok());
    }
}
