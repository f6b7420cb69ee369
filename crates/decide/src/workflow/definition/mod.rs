//! What a workflow is: the types, and how a text becomes one.
//!
//! ```yaml
//! name: release
//! version: "3"
//! inputs:
//!   branch: { type: string, default: main }
//! maxConcurrency: 4        # steps that run at once
//! timeout: 2h              # of the whole run
//! onError: fail            # for steps that name nothing else: fail | continue | retry
//! failFast: false          # true: the first failure ends the run at once
//! steps:
//!   - id: build
//!     pool: builders
//!     requires: [rust]
//!     with: { command: "cargo build", branch: "{{ inputs.branch }}" }
//!     timeout: 30m
//!     retries: { maxAttempts: 3, backoff: { initial: 1s, max: 30s } }
//!   - id: agree
//!     dependsOn: [build]
//!     approval: { by: [role:admin], message: "Release {{ steps.build.output.version }}?", timeout: 1d }
//!   - id: ship
//!     dependsOn: [agree]
//!     when: inputs.branch == 'main'
//!     workflow: ship-it    # a workflow by name, or one written out here
//!     with: { path: "{{ steps.build.output.path }}" }
//! outputs:
//!   path: "{{ steps.build.output.path }}"
//! ```
//!
//! What a step does follows from its fields: `approval`, `timer` or `workflow`; anything else is a
//! task for a worker, who gets what is under `with` (`task` and `run` are short for entries of it). One
//! with a `role` or a `harness` is done by an agent.

mod canonical;
mod errand;
pub(crate) mod fields;
mod inputs;
mod read;
mod span;
mod step;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use godel_model::{Capability, PoolName, RetryPolicy, TaskPriority};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::Problems;

pub use span::{duration_text, parse_duration};

/// A workflow as it was written. One that was read is sound: its steps form a graph without a
/// circle, and its conditions and templates name only what is known where they stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The version, as its author counts.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What a run is given.
    pub inputs: BTreeMap<String, InputSpec>,
    /// The steps, in the order of the text.
    pub steps: Vec<Step>,
    /// How many tasks and workflows of a run go on at once.
    pub max_concurrency: u32,
    /// How long a run may take.
    pub timeout: Option<Duration>,
    /// Whether the first failure ends the run, rather than only what depends on it.
    pub fail_fast: bool,
    /// What a run gives back: JSON with templates.
    pub outputs: BTreeMap<String, Value>,
}

/// What a run can be given under one name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputSpec {
    /// The type.
    pub kind: InputKind,
    /// Whether it must be given.
    pub required: bool,
    /// What it is if it is not given.
    pub default: Option<Value>,
    /// What it is for.
    pub description: Option<String>,
    /// The values that it can have; empty if there is no such list.
    pub options: Vec<Value>,
}

/// The type of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// Any JSON.
    #[default]
    Any,
    /// A text.
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// A mapping.
    Object,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The id, unique in the workflow.
    pub id: String,
    /// The name for people.
    pub name: Option<String>,
    /// What it does.
    pub kind: StepKind,
    /// Which steps must have ended first.
    pub depends_on: Vec<String>,
    /// The condition, in CEL; the step is skipped if it does not hold.
    pub when: Option<String>,
    /// What it does if a step that it depends on was skipped.
    pub if_skipped: IfSkipped,
    /// What follows if it fails.
    pub on_error: OnError,
    /// How long it may take: one attempt of a task, a workflow as a whole, or the wait for an answer.
    pub timeout: Option<Duration>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// A worker does it.
    Task(TaskStep),
    /// Another workflow is run.
    Workflow(WorkflowStep),
    /// A person says yes or no.
    Approval(ApprovalStep),
    /// It waits.
    Timer(TimerStep),
}

impl StepKind {
    /// Returns the name of the kind.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Workflow(_) => "workflow",
            Self::Approval(_) => "approval",
            Self::Timer(_) => "timer",
        }
    }

    /// Returns who may answer it; empty if it asks nobody, or everybody.
    pub fn by(&self) -> &[String] {
        match self {
            Self::Approval(gate) => &gate.by,
            Self::Task(_) | Self::Workflow(_) | Self::Timer(_) => &[],
        }
    }
}

/// A task for a worker.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskStep {
    /// Where it waits.
    pub pool: PoolName,
    /// How urgent it is.
    pub priority: TaskPriority,
    /// What its worker must be able to do.
    pub requires: BTreeSet<Capability>,
    /// The agent that must do it, if it is one in particular.
    pub agent: Option<String>,
    /// Tasks of one session prefer one worker; a template.
    pub session: Option<String>,
    /// What the worker gets: JSON with templates.
    pub payload: Map<String, Value>,
    /// How often it is tried.
    pub retry: RetryPolicy,
}

/// A workflow inside a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowStep {
    /// Which one.
    pub workflow: WorkflowRef,
    /// What it is given: JSON with templates.
    pub inputs: Map<String, Value>,
}

/// A workflow by name, or written out.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkflowRef {
    /// The name under which it is stored.
    Named(String),
    /// The workflow itself.
    Inline(Box<Definition>),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalStep {
    /// Who may answer, such as `user:ann` or `role:admin`; empty for everybody who may act on the run.
    pub by: Vec<String>,
    /// The question; a template.
    pub message: Option<String>,
}

impl ApprovalStep {
    /// Tells whether somebody who goes by these names may answer.
    pub fn admits(&self, names: &[String]) -> bool {
        self.by.is_empty() || self.by.iter().any(|one| names.contains(one))
    }
}

/// A wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimerStep {
    /// For so long.
    For(Duration),
    /// Until a time, as RFC 3339; a template.
    Until(String),
}

/// What a step does if one that it depends on was skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IfSkipped {
    /// It runs: to be skipped is to be done with.
    #[default]
    Run,
    /// It is skipped too.
    Skip,
}

/// What follows if a step fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// What depends on it is cancelled, and the run will have failed.
    #[default]
    Fail,
    /// What depends on it runs all the same; the failure is marked and does not count.
    Continue,
    /// As `fail`, but a task is tried three times unless it names another number.
    Retry,
}

impl Definition {
    /// Reads a workflow from YAML or JSON.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place in the text.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        read::read(text)
    }

    /// Returns the workflow as JSON that can be read again to the same workflow.
    pub fn to_json(&self) -> Value {
        canonical::definition(self)
    }

    /// Checks what a run is given, and adds what has a default.
    ///
    /// # Errors
    /// All that is missing, unknown or of the wrong type.
    pub fn bind(&self, given: Map<String, Value>) -> Result<Map<String, Value>, Vec<String>> {
        inputs::bind(&self.inputs, given)
    }

    /// Returns the names of the workflows that are run by steps of this one, inline ones included.
    pub fn uses(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.collect_uses(&mut names);
        names
    }

    fn collect_uses<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        for step in &self.steps {
            match &step.kind {
                StepKind::Workflow(WorkflowStep { workflow: WorkflowRef::Named(name), .. }) => {
                    names.insert(name);
                }
                StepKind::Workflow(WorkflowStep {
                    workflow: WorkflowRef::Inline(inner), ..
                }) => {
                    inner.collect_uses(names);
                }
                StepKind::Task(_) | StepKind::Approval(_) | StepKind::Timer(_) => {}
            }
        }
    }

    /// Returns the circle of names, if a workflow would run itself by way of others.
    ///
    /// `known` tells which workflows a stored one runs; a name that is not known ends the way.
    pub fn recursion(&self, known: impl Fn(&str) -> Option<Vec<String>>) -> Option<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut way: Vec<(String, Vec<String>)> =
            vec![(self.name.clone(), self.uses().into_iter().map(str::to_owned).collect())];
        while let Some((_, next)) = way.last_mut() {
            let Some(name) = next.pop() else {
                way.pop();
                continue;
            };
            if let Some(start) = way.iter().position(|(one, _)| *one == name) {
                let mut circle: Vec<String> =
                    way[start..].iter().map(|(one, _)| one.clone()).collect();
                circle.push(name);
                return Some(circle);
            }
            if seen.insert(name.clone())
                && let Some(uses) = known(&name)
            {
                way.push((name, uses));
            }
        }
        None
    }
}

impl Serialize for Definition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}
