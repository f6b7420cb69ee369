//! What is wrong with a definition, and where.

use std::fmt;

use serde::Serialize;

use super::limits::PROBLEMS_MAX;

/// A place in a text; both count from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What kind of mistake it is. The name ([`Mistake::code`]) is stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mistake {
    /// The text is neither YAML nor JSON.
    Syntax,
    /// The text, or a part of it, is larger than the limit.
    TooLarge,
    /// The text is nested deeper than the limit.
    TooDeep,
    /// There are more steps than the limit.
    TooManySteps,
    /// A field has no meaning here.
    UnknownField,
    /// A field is missing.
    MissingField,
    /// A field is there twice.
    DuplicateField,
    /// A value is of the wrong type or not one of those that can be.
    InvalidValue,
    /// A name or an id has characters that it cannot have.
    InvalidName,
    /// A duration is not understood.
    InvalidDuration,
    /// Two steps have one id.
    DuplicateStep,
    /// A step depends on one that is not there.
    UnknownDependency,
    /// Steps depend on each other in a circle.
    Cycle,
    /// A condition is not CEL, or may cost too much.
    InvalidCondition,
    /// A template is not understood, or does what templates may not.
    InvalidTemplate,
    /// A condition or template names something that is not known there.
    UnknownReference,
    /// A workflow would run itself.
    Recursion,
    /// The graph is too tangled to be checked.
    TooComplex,
}

impl Mistake {
    /// Returns the stable name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::TooLarge => "too_large",
            Self::TooDeep => "too_deep",
            Self::TooManySteps => "too_many_steps",
            Self::UnknownField => "unknown_field",
            Self::MissingField => "missing_field",
            Self::DuplicateField => "duplicate_field",
            Self::InvalidValue => "invalid_value",
            Self::InvalidName => "invalid_name",
            Self::InvalidDuration => "invalid_duration",
            Self::DuplicateStep => "duplicate_step",
            Self::UnknownDependency => "unknown_dependency",
            Self::Cycle => "cycle",
            Self::InvalidCondition => "invalid_condition",
            Self::InvalidTemplate => "invalid_template",
            Self::UnknownReference => "unknown_reference",
            Self::Recursion => "recursion",
            Self::TooComplex => "too_complex",
        }
    }
}

/// One thing that is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The kind; its name is stable.
    pub code: Mistake,
    /// What is wrong, and with what.
    pub message: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where it is in the text.
    #[serde(flatten)]
    pub at: Position,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// All that is wrong with a text, in the order of the text; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}", summary(.problems, *.left_out))]
pub struct Problems {
    problems: Vec<Problem>,
    left_out: usize,
}

fn summary(problems: &[Problem], left_out: usize) -> String {
    let mut text: Vec<String> = problems.iter().map(Problem::to_string).collect();
    if left_out > 0 {
        text.push(format!("and {left_out} more"));
    }
    text.join("\n")
}

impl Problems {
    /// Returns the problems in the order of the text, at most [`PROBLEMS_MAX`].
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.problems.iter()
    }

    /// Returns how many problems were not told, because there were too many.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Collects problems while a text is read.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Problem>,
    left_out: usize,
}

impl Findings {
    /// Notes a problem.
    pub(crate) fn add(&mut self, code: Mistake, at: Position, message: impl Into<String>) {
        self.push(Problem { code, message: message.into(), hint: None, at });
    }

    /// Notes a problem and what can be done about it.
    pub(crate) fn add_with_hint(
        &mut self,
        code: Mistake,
        at: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Problem { code, message: message.into(), hint: Some(hint.into()), at });
    }

    /// Notes a problem that was found elsewhere.
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns the value if nothing was found, or else all that was.
    pub(crate) fn settle<T>(mut self, value: T) -> Result<T, Problems> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        self.problems.sort_by_key(|problem| problem.at);
        Err(Problems { problems: self.problems, left_out: self.left_out })
    }

    /// Returns all that was found as a failure; `code` is noted if there was nothing.
    pub(crate) fn fail(mut self, code: Mistake, message: &str) -> Problems {
        if self.problems.is_empty() {
            self.add(code, Position::START, message);
        }
        self.problems.sort_by_key(|problem| problem.at);
        Problems { problems: self.problems, left_out: self.left_out }
    }
}

/// Returns the known name that is nearest to what was written, if one is near.
pub(crate) fn nearest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (written.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(written, name, limit + 1), name))
        .filter(|(far, _)| *far <= limit)
        .min()
        .map(|(_, name)| name)
}

/// How many characters must be changed, or swapped with their neighbour; `limit` stands for more.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    if a.len().abs_diff(b.len()) >= limit {
        return limit;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(left != right)).min(last[j + 1] + 1);
            cost = cost.min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *right && b[j - 1] == *left {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()].min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let known = ["dependsOn", "description", "timeout", "when"];
        assert_eq!(nearest("dependson", known), Some("dependsOn"));
        assert_eq!(nearest("depends_on", known), Some("dependsOn"));
        assert_eq!(nearest("tiemout", known), Some("timeout"));
        assert_eq!(nearest("wehn", known), Some("when"));
        assert_eq!(nearest("banana", known), None);
    }

    #[test]
    fn only_so_many_problems_are_told_and_the_rest_is_counted() {
        let mut findings = Findings::default();
        for line in 0..150 {
            findings.add(Mistake::Syntax, Position { line: 200 - line, column: 1 }, "x");
        }
        let problems = findings.settle(()).unwrap_err();
        assert_eq!((problems.iter().len(), problems.left_out()), (PROBLEMS_MAX, 50));
        assert!(problems.iter().is_sorted_by_key(|problem| problem.at));
        assert!(problems.to_string().ends_with("and 50 more"));
    }
}
