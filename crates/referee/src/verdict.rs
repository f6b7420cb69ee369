//! What the referee says: the rules, what was looked at, and what was broken.

use std::fmt;

/// The most violations that are kept; all are counted.
pub const MOST_VIOLATIONS: usize = 1_000;

/// A promise of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// No loss.
    I1,
    /// No ghost.
    I2,
    /// Attempts are counted without gap and have a limit.
    I3,
    /// At most one live lease.
    I4,
    /// Nothing is accepted from an older attempt.
    I5,
    /// What has ended stays so.
    I6,
    /// Strict priority.
    I7,
    /// The log has no gap and agrees with the tables.
    I8,
    /// Children wait for parents, and share their end.
    I9,
    /// What was accepted is what is there, and as deep as reported.
    I10,
    /// Retries are neither early nor late.
    I11,
    /// What was answered is there.
    I12,
}

impl Rule {
    /// All of them, in order.
    pub const ALL: [Self; 12] = [
        Self::I1,
        Self::I2,
        Self::I3,
        Self::I4,
        Self::I5,
        Self::I6,
        Self::I7,
        Self::I8,
        Self::I9,
        Self::I10,
        Self::I11,
        Self::I12,
    ];

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::I1 => "no loss",
            Self::I2 => "no ghost",
            Self::I3 => "attempts without gap or excess",
            Self::I4 => "one live lease",
            Self::I5 => "older attempts are fenced out",
            Self::I6 => "an end is final",
            Self::I7 => "strict priority",
            Self::I8 => "the log is whole and agrees with the tables",
            Self::I9 => "children wait for parents and share their end",
            Self::I10 => "what was accepted is there, as deep as reported",
            Self::I11 => "retries at their time",
            Self::I12 => "what was answered is durable",
        }
    }

    fn place(self) -> usize {
        Self::ALL.iter().position(|rule| *rule == self).unwrap_or_default()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I{}", self.place() + 1)
    }
}

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub rule: Rule,
    /// The task, if it is about one.
    pub task: Option<String>,
    /// The lines of the history that show it.
    pub lines: Vec<u64>,
    /// What happened, in plain words.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): ", self.rule, self.rule.title())?;
        if let Some(task) = &self.task {
            write!(f, "task {task}: ")?;
        }
        write!(f, "{}", self.message)?;
        let mut before = " [line ";
        for line in &self.lines {
            write!(f, "{before}{line}")?;
            before = ", ";
        }
        if self.lines.is_empty() { Ok(()) } else { write!(f, "]") }
    }
}

/// What the referee says about one history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first [`MOST_VIOLATIONS`] broken promises.
    pub violations: Vec<Violation>,
    /// How many were broken in all.
    pub broken: u64,
    /// How many lines were read.
    pub records: u64,
    /// How many tasks they are about.
    pub tasks: u64,
    checked: [u64; 12],
}

impl Verdict {
    /// Whether no promise was broken.
    pub fn is_clean(&self) -> bool {
        self.broken == 0
    }

    /// How often a rule was looked at; 0 means that this history could not break it.
    pub fn checked(&self, rule: Rule) -> u64 {
        self.checked[rule.place()]
    }

    /// Whether a rule was broken.
    pub fn breaks(&self, rule: Rule) -> bool {
        self.violations.iter().any(|violation| violation.rule == rule)
    }

    /// One line that says what was looked at.
    pub fn summary(&self) -> String {
        let counts: Vec<_> =
            Rule::ALL.iter().map(|rule| format!("{rule} {}", self.checked(*rule))).collect();
        let (records, tasks, broken) = (self.records, self.tasks, self.broken);
        let found = match broken {
            0 => "no promise broken".to_owned(),
            1 => "1 promise broken".to_owned(),
            many => format!("{many} promises broken"),
        };
        format!("{found}; {records} records, {tasks} tasks; looked at: {}", counts.join(", "))
    }

    pub(crate) fn look(&mut self, rule: Rule) {
        self.checked[rule.place()] += 1;
    }

    /// Notes that a rule was looked at and, if `broken`, what is wrong.
    pub(crate) fn expect(&mut self, rule: Rule, holds: bool, otherwise: impl FnOnce() -> Finding) {
        self.look(rule);
        if !holds {
            self.note(rule, otherwise());
        }
    }

    pub(crate) fn note(&mut self, rule: Rule, finding: Finding) {
        self.broken += 1;
        if self.violations.len() < MOST_VIOLATIONS {
            let Finding { task, mut lines, message } = finding;
            lines.retain(|line| *line != 0);
            lines.sort_unstable();
            lines.dedup();
            self.violations.push(Violation { rule, task, lines, message });
        }
    }
}

/// What is wrong, before it is known as the violation of a rule.
pub(crate) struct Finding {
    pub(crate) task: Option<String>,
    pub(crate) lines: Vec<u64>,
    pub(crate) message: String,
}

impl Finding {
    /// A finding about one task; line 0 means that there is none.
    pub(crate) fn of(task: &str, lines: &[u64], message: impl Into<String>) -> Self {
        Self { task: Some(task.to_owned()), lines: lines.to_vec(), message: message.into() }
    }

    /// A finding about no task in particular.
    pub(crate) fn general(lines: &[u64], message: impl Into<String>) -> Self {
        Self { task: None, lines: lines.to_vec(), message: message.into() }
    }
}
