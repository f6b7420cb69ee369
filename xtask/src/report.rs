//! The account of a test run: what ran, how long, how many tests, what was left out.

use std::time::{Duration, Instant};

use crate::counts::Counts;
use crate::failure::{Failure, Result};

/// What a step that succeeded has to tell.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) counts: Counts,
    /// A few words, such as a version.
    pub(crate) note: String,
    /// Parts that were left out, each as one line that says why and how to get it.
    pub(crate) skipped: Vec<String>,
}

impl Done {
    /// A success with a few words.
    pub(crate) fn noted(note: impl Into<String>) -> Self {
        Self { note: note.into(), ..Self::default() }
    }

    /// A success with test counts.
    pub(crate) fn counted(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    /// A step that was left out as a whole.
    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Self { skipped: vec![why.into()], ..Self::default() }
    }
}

struct Row {
    name: String,
    took: Duration,
    counts: Counts,
    note: String,
}

/// Collects the rows while the steps run.
pub(crate) struct Report {
    started: Instant,
    rows: Vec<Row>,
    skipped: Vec<String>,
}

impl Report {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), rows: Vec::new(), skipped: Vec::new() }
    }

    /// Runs one step with a heading and a closing line.
    pub(crate) fn step<T>(
        &mut self,
        name: &str,
        run: impl FnOnce() -> Result<(T, Done)>,
    ) -> Result<T> {
        println!("==> {name}");
        let started = Instant::now();
        let result = run();
        let took = started.elapsed();
        match result {
            Ok((value, done)) => {
                self.close(name, took, done);
                Ok(value)
            }
            Err(failure) => {
                let mut counts = counts_of(failure.text());
                // A step that fails without a failed test, such as a lint, is one failure.
                counts.failed = counts.failed.max(1);
                let name = name.to_owned();
                self.rows.push(Row { name, took, counts, note: "FAILED".to_owned() });
                Err(failure)
            }
        }
    }

    fn close(&mut self, name: &str, took: Duration, done: Done) {
        for line in &done.skipped {
            println!("    skipped: {line}");
        }
        let word = if done.skipped.is_empty() { "ok" } else { "done" };
        let tests = tests_of(done.counts);
        let said: Vec<&str> =
            [done.note.as_str(), tests.as_str()].into_iter().filter(|s| !s.is_empty()).collect();
        let tail = if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) };
        println!("    {word} in {:.1} s{tail}", took.as_secs_f64());
        let mut counts = done.counts;
        counts.skipped += done.skipped.len() as u64;
        self.rows.push(Row { name: name.to_owned(), took, counts, note: done.note });
        self.skipped.extend(done.skipped);
    }

    /// Shows the table; the last line is `N passed, M failed, K skipped` and nothing else.
    pub(crate) fn print(&self) {
        for line in self.lines() {
            println!("{line}");
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut total = Counts::default();
        let mut lines = vec![String::new(), format!("{:<12} {:>8}  tests", "step", "seconds")];
        for row in &self.rows {
            total += row.counts;
            let tests = tests_of(row.counts);
            let gap = if tests.is_empty() || row.note.is_empty() { "" } else { "  " };
            let line = format!(
                "{:<12} {:>8.1}  {tests}{gap}{}",
                row.name,
                row.took.as_secs_f64(),
                row.note
            );
            lines.push(line.trim_end().to_owned());
        }
        lines.push(format!("{:<12} {:>8.1}", "total", self.started.elapsed().as_secs_f64()));
        lines.extend(self.skipped.iter().map(|line| format!("skipped: {line}")));
        lines.push(String::new());
        lines.push(format!(
            "{} passed, {} failed, {} skipped",
            total.passed, total.failed, total.skipped
        ));
        lines
    }
}

fn tests_of(counts: Counts) -> String {
    let parts = [(counts.passed, "passed"), (counts.failed, "failed"), (counts.skipped, "skipped")];
    let said = parts.iter().filter(|(number, _)| *number > 0);
    said.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

/// Reads the counts out of a failed step's output, whichever runner it was.
fn counts_of(output: &str) -> Counts {
    use crate::counts::{of_cargo_test, of_checks, of_nextest, of_schemathesis, of_vitest};
    [of_nextest, of_cargo_test, of_vitest, of_schemathesis, of_checks]
        .into_iter()
        .find_map(|read| read(output))
        .unwrap_or_default()
}

/// Shows why a step failed and how to run it alone; on standard output, before the table.
pub(crate) fn print_failure(failure: &Failure, rerun: &str) {
    println!("    FAILED");
    for line in failure.lines() {
        println!("{line}");
    }
    println!(" rerun: {rerun}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(report: &Report) -> String {
        report.lines().pop().unwrap()
    }

    #[test]
    fn the_last_line_sums_all_steps() {
        let mut report = Report::start();
        for passed in [3, 4] {
            let counts = Counts { passed, failed: 0, skipped: 1 };
            report.step("tests", || Ok(((), Done::counted(counts)))).unwrap();
        }
        report.step("lint", || Ok(((), Done::default()))).unwrap();
        assert_eq!(last(&report), "7 passed, 0 failed, 2 skipped");
    }

    #[test]
    fn a_part_that_was_left_out_counts_and_is_named() {
        let mut report = Report::start();
        report.step("redis", || Ok(((), Done::skipped("Redis: not here")))).unwrap();
        assert_eq!(last(&report), "0 passed, 0 failed, 1 skipped");
        assert!(report.lines().contains(&"skipped: Redis: not here".to_owned()));
    }

    #[test]
    fn a_failed_step_counts_its_failed_tests_or_itself() {
        let mut report = Report::start();
        let red = "test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured\n";
        let step = report.step("tests", || Err::<((), Done), _>(Failure::new("x").output(red)));
        assert!(step.is_err());
        assert_eq!(last(&report), "5 passed, 2 failed, 0 skipped");
        let step = report.step("lint", || Err::<((), Done), _>(Failure::new("x")));
        assert!(step.is_err());
        assert_eq!(last(&report), "5 passed, 3 failed, 0 skipped");
    }
}
