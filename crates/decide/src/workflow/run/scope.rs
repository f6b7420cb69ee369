//! What conditions and templates see of a run.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::expr::{Scope, StepView};
use super::Run;

static NOTHING: Value = Value::Null;

impl Scope for Run {
    fn inputs(&self) -> &Arc<Map<String, Value>> {
        &self.inputs
    }

    fn step(&self, id: &str) -> Option<StepView<'_>> {
        let cell = self.cell(self.plan.find(id)?);
        Some(StepView {
            state: cell.state.as_str(),
            output: cell.output.as_deref().unwrap_or(&NOTHING),
            output_bytes: cell.output_bytes as usize,
            error: cell.fault.as_deref().map(|fault| fault.message.as_str()),
        })
    }

    fn run(&self) -> Value {
        json!({ "id": self.id, "name": self.plan.definition().name })
    }

    fn input_bytes(&self) -> usize {
        self.input_bytes
    }
}
