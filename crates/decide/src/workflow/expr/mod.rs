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
    let mut inputs = Map::new();
    let mut steps = Map::new();
    let mut bytes = 0;
    for reference in found {
        match reference {
            Reference::Inputs(name) => {
                // An input that is not there is left out, so that it counts as undefined.
                if let Some(value) = scope.inputs().get(name) {
                    bytes += size_of(value);
                    inputs.insert(name.clone(), value.clone());
                }
                names.entry("inputs").or_insert_with(|| Value::Object(Map::new()));
            }
            Reference::AllInputs => {
                bytes += scope.input_bytes();
                inputs.extend(scope.inputs().as_ref().clone());
                names.entry("inputs").or_insert_with(|| Value::Object(Map::new()));
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
    if let Some(place) = names.get_mut("inputs") {
        *place = Value::Object(inputs);
    }
    if !steps.is_empty() {
        names.insert("steps".to_owned(), Value::Object(steps));
    }
    Ok((names, bytes))
}

/// How many bytes a value has, about as many as it has as JSON.
fn size_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size_of(item) + 1).sum::<usize>() + 2,
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| key.len() + size_of(value) + 4).sum::<usize>() + 2
        }
    }
}
