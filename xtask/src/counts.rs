//! Reading the test counts out of what the test runners say.

use std::ops::AddAssign;

use serde_json::Value;

/// How many tests ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl Counts {
    /// Adds what a word such as `passed` counts; other words count nothing.
    fn add(&mut self, word: &str, number: u64) {
        match word {
            "passed" => self.passed += number,
            "failed" | "timed" | "exec" => self.failed += number,
            "skipped" | "ignored" | "todo" => self.skipped += number,
            _ => {}
        }
    }

    /// Adds items such as `3 passed`, divided by `separator`.
    fn add_items(&mut self, text: &str, separator: char) {
        for item in text.split(separator) {
            let mut words = item.split_whitespace();
            let number = words.next().and_then(|number| number.parse().ok());
            if let (Some(number), Some(word)) = (number, words.next()) {
                self.add(word, number);
            }
        }
    }
}

/// Reads `cargo nextest`: `Summary [ 1.2s] 4 tests run: 3 passed (1 slow), 1 failed, 2 skipped`.
pub(crate) fn of_nextest(output: &str) -> Option<Counts> {
    let line = output.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
    let mut counts = Counts::default();
    counts.add_items(line.split_once("run:")?.1, ',');
    Some(counts)
}

/// Reads which tests `cargo nextest` tells as passed at a second try: `FLAKY 2/2 [ 1.2s] (1/4) a::it b::c`.
pub(crate) fn tried_again(output: &str) -> Vec<&str> {
    let told = output.lines().filter(|line| line.trim_start().starts_with("FLAKY "));
    let mut names: Vec<&str> = told.filter_map(|line| line.split_whitespace().last()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Reads `cargo test`: one line `test result: ok. 3 passed; 0 failed; 1 ignored; ...` a program.
pub(crate) fn of_cargo_test(output: &str) -> Option<Counts> {
    let mut counts = None;
    for line in output.lines() {
        if let Some((_, items)) =
            line.strip_prefix("test result: ").and_then(|l| l.split_once(". "))
        {
            counts.get_or_insert_with(Counts::default).add_items(items, ';');
        }
    }
    counts
}

/// Reads Vitest: `Tests  1 failed | 10 passed | 2 skipped (13)`.
pub(crate) fn of_vitest(output: &str) -> Option<Counts> {
    let line = output.lines().rev().find_map(|line| line.trim_start().strip_prefix("Tests "))?;
    let mut counts = Counts::default();
    counts.add_items(line, '|');
    Some(counts)
}

/// Reads Schemathesis: `100 generated, 100 passed, 4 skipped` under `Test cases:`.
///
/// A failing run says `82 generated, 1 found 2 unique failures` instead. What it calls skipped is
/// a phase with nothing to do for an operation, not a test that was left out.
pub(crate) fn of_schemathesis(output: &str) -> Option<Counts> {
    let mut lines = output.lines();
    lines.find(|line| line.trim() == "Test cases:")?;
    let (mut generated, mut failed) = (0, 0);
    for item in lines.next()?.split(',') {
        let mut words = item.split_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        match words.next()? {
            "generated" => generated = number,
            "found" | "failed" => failed = number,
            _ => {}
        }
    }
    Some(Counts { passed: generated.saturating_sub(failed), failed, skipped: 0 })
}

/// Reads the checks of real clients: one line `{"name":"..","ok":true,"detail":".."}` each.
pub(crate) fn of_checks(output: &str) -> Option<Counts> {
    let mut counts = None;
    for line in output.lines().filter(|line| is_check(line)) {
        let counts = counts.get_or_insert_with(Counts::default);
        counts.add(if passes(line) { "passed" } else { "failed" }, 1);
    }
    counts
}

/// Whether a line tells of a check.
pub(crate) fn is_check(line: &str) -> bool {
    check(line).is_some()
}

/// Whether a line tells of a check that passed.
pub(crate) fn passes(line: &str) -> bool {
    check(line) == Some(true)
}

fn check(line: &str) -> Option<bool> {
    let value: Value = serde_json::from_str(line).ok()?;
    value["name"].as_str()?;
    value["ok"].as_bool()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Option<Counts> {
        Some(Counts { passed, failed, skipped })
    }

    #[test]
    fn nextest_is_read_green_and_red() {
        let green = "  PASS x\n     Summary [   6.088s] 23 tests run: 23 passed, 0 skipped\n";
        assert_eq!(of_nextest(green), counts(23, 0, 0));
        let red = "     Summary [ 1.0s] 9/14 tests run: 5 passed (1 slow), 2 failed, 1 timed out, \
                   1 exec failed, 3 skipped\n        FAIL [ 0.1s] a b\nerror: test run failed";
        assert_eq!(of_nextest(red), counts(5, 4, 3));
        assert_eq!(of_nextest("error: could not compile"), None);
        let again = "  TRY 2 PASS [ 1.0s] (2/4) a::it b::c\n     Summary [ 1.0s] 4 tests run: 4 passed (2 slow, 1 \
                     flaky), 0 skipped\n   FLAKY 2/2 [ 1.0s] (2/4) a::it b::c\n";
        assert_eq!(of_nextest(again), counts(4, 0, 0));
        assert_eq!(tried_again(again), ["b::c"]);
        assert!(tried_again(red).is_empty());
    }

    #[test]
    fn cargo_test_is_summed_over_its_programs() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out";
        assert_eq!(of_cargo_test(text), counts(4, 2, 1));
        assert_eq!(of_cargo_test("error: no"), None);
    }

    #[test]
    fn vitest_is_read_green_and_red() {
        assert_eq!(
            of_vitest(" Test Files  1 passed (1)\n      Tests  3 passed (3)\n"),
            counts(3, 0, 0)
        );
        let red = "      Tests  1 failed | 10 passed | 2 skipped | 1 todo (14)";
        assert_eq!(of_vitest(red), counts(10, 1, 3));
    }

    #[test]
    fn schemathesis_is_read_green_and_red() {
        let green = "Test cases:\n  100 generated, 100 passed, 4 skipped\n\nSeed: 1";
        assert_eq!(of_schemathesis(green), counts(100, 0, 0));
        let red = "Test cases:\n  82 generated, 1 found 2 unique failures, 4 skipped\n";
        assert_eq!(of_schemathesis(red), counts(81, 1, 0));
        assert_eq!(of_schemathesis("Schema Loading Error"), None);
    }

    #[test]
    fn checks_of_clients_are_read_green_and_red() {
        let green = "{\"name\":\"a\",\"ok\":true,\"detail\":\"\"}\n";
        assert_eq!(of_checks(&green.repeat(3)), counts(3, 0, 0));
        let red = "a warning\n{\"name\":\"b\",\"ok\":false,\"detail\":\"x\"}\n{\"ok\":true}\n";
        assert_eq!(of_checks(&format!("{green}{red}")), counts(1, 1, 0));
        assert_eq!(of_checks("Traceback"), None);
    }
}
