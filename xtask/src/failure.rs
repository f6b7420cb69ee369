//! The one error of the chore runner: what failed, what it said, what to do.

use std::fmt;

/// How much of a failed command's output is shown; the rest is in its log.
const SHOWN_LINES: usize = 400;

/// A chore that could not be done.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    what: String,
    output: Option<String>,
    hint: Option<String>,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Says what failed: lower case, no period.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what the failed command said.
    pub(crate) fn output(mut self, output: impl Into<String>) -> Self {
        self.output = Some(output.into());
        self
    }

    /// The last line that was said, or what failed if nothing was: for a place with little room.
    pub(crate) fn brief(&self) -> &str {
        let mut lines = self.text().lines().rev().map(str::trim);
        lines.find(|line| !line.is_empty()).unwrap_or(&self.what)
    }

    /// What the failed command said.
    pub(crate) fn text(&self) -> &str {
        self.output.as_deref().unwrap_or_default()
    }

    /// All of it, line by line: the output first, so that what matters stands at the end.
    pub(crate) fn lines(&self) -> Vec<String> {
        let all = self.text().trim_end().lines();
        let output: Vec<&str> = all.clone().filter(|line| !is_good_news(line)).collect();
        let from = output.len().saturating_sub(SHOWN_LINES);
        let mut lines = Vec::new();
        let good = all.count() - output.len();
        if good > 0 {
            lines.push(format!(
                "    ({good} lines of what went well are in the log, see target/xtask)"
            ));
        }
        if from > 0 {
            lines.push(format!("    ({from} earlier lines are in the log, see target/xtask)"));
        }
        lines.extend(output[from..].iter().map(|line| format!("    {line}")));
        lines.push(format!("error: {self}"));
        lines.extend(self.hint.iter().map(|hint| format!("  hint: {hint}")));
        lines
    }
}

/// Tells whether a runner says here that something went well: nobody who looks for a failure needs that, and
/// some only see the beginning of what is printed.
fn is_good_news(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('✓') || line.starts_with("PASS [") || line.ends_with(" ... ok")
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)
    }
}

impl From<godel_engines::Error> for Failure {
    fn from(error: godel_engines::Error) -> Self {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        Self::new(format!("{error}{}", cause.unwrap_or_default())).hint(error.hint())
    }
}

/// Gives an IO error the words it lacks: what was tried, and on what.
pub(crate) trait Told<T> {
    /// Says what was tried, such as `write target/x`.
    fn told(self, tried: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Told<T> for std::result::Result<T, E> {
    fn told(self, tried: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure::new(format!("could not {tried}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_well_does_not_hide_what_failed() {
        let said = " RUN v4\n     ✓ B1 rows  12ms\n   ✓ a.e2e.ts (1 test)\n     × B2 words 3ms\n\
            PASS [   0.1s] a::b\ntest c::d ... ok\ntest c::e ... FAILED\n";
        let shown = Failure::new("x").output(said).lines();
        assert_eq!(
            shown,
            [
                "    (4 lines of what went well are in the log, see target/xtask)",
                "     RUN v4",
                "         × B2 words 3ms",
                "    test c::e ... FAILED",
                "error: x"
            ]
        );
    }
}
