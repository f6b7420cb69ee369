//! Conditions and templates: what they may name, what they may cost, and what they mean.
//!
//! Both see three names: `inputs`, `steps` (only those that the step depends on, directly or not) and
//! `run`. A step is named as `steps.build` or `steps["build-all"]`, never by a computed name, so what
//! is read is known before anything runs, and only that is looked up.

mod condition;
mod render;
mod scan;
mod template;
#[cfg(test)]
mod tests;

pub(super) use condition::{check as check_condition, holds};
pub(super) use render::render;
pub(super) use scan::{Reference, Syntax, references};
pub(super) use template::{check as check_template, is_template};

use std::sync::Arc;

use serde_json::{Map, Value, json};

/// What conditions and templates see of the run.
pub(super) trait Scope {
    /// Returns the inputs of the run.
    fn inputs(&self) -> &Arc<Map<String, Value>>;
    /// Returns what `steps.<id>` stands for; none if there is no such step.
    fn step(&self, id: &str) -> Option<StepView<'_>>;
    /// Returns what `run` stands for.
    fn run(&self) -> Value;
    /// Returns how many bytes the inputs have as JSON.
    fn input_bytes(&self) -> usize;
}

/// What is seen of a step that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepView<'a> {
    pub(super) state: &'static str,
    pub(super) output: &'a Value,
    pub(super) output_bytes: usize,
    pub(super) error: Option<&'a str>,
}

impl StepView<'_> {
    fn to_json(self) -> Value {
        json!({ "state": self.state, "output": self.output, "error": self.error })
    }
}

/// The values that an expression names, and how large they are.
fn gather(found: &[Reference], scope: &dyn Scope) -> Result<(Map<String, Value>, usize), String> {
    let mut names = Map::new();
    let mut steps = Map::new();
    let mut bytes = 0;
    for reference in found {
        match reference {
            Reference::Inputs(_) | Reference::AllInputs => {
                if !names.contains_key("inputs") {
                    bytes += scope.input_bytes();
                    names.insert(
                        "inputs".to_owned(),
                        Value::Object(scope.inputs().as_ref().clone()),
                    );
                }
            }
            Reference::Step(id) => {
                let view = scope.step(id).ok_or_else(|| format!("there is no step `{id}`"))?;
                if !steps.contains_key(id) {
                    bytes += view.output_bytes + 64;
                    steps.insert(id.clone(), view.to_json());
                }
            }
            Reference::Run => {
                names.insert("run".to_owned(), scope.run());
            }
        }
    }
    if !steps.is_empty() {
        names.insert("steps".to_owned(), Value::Object(steps));
    }
    Ok((names, bytes))
}
