//! A workflow as JSON in the one form that is stored.

use serde_json::{Map, Value, json};

use super::{
    Definition, InputSpec, Step, StepKind, TaskStep, TimerStep, WorkflowRef, duration_text,
};

pub(super) fn definition(definition: &Definition) -> Value {
    let mut entries = Map::new();
    entries.insert("name".to_owned(), json!(definition.name));
    set(&mut entries, "version", definition.version.as_ref());
    set(&mut entries, "description", definition.description.as_ref());
    if !definition.inputs.is_empty() {
        let inputs: Map<String, Value> =
            definition.inputs.iter().map(|(name, spec)| (name.clone(), input(spec))).collect();
        entries.insert("inputs".to_owned(), Value::Object(inputs));
    }
    entries.insert("maxConcurrency".to_owned(), json!(definition.max_concurrency));
    set(&mut entries, "timeout", definition.timeout.map(duration_text));
    set(&mut entries, "failFast", definition.fail_fast.then_some(true));
    entries.insert("steps".to_owned(), definition.steps.iter().map(step).collect());
    set(&mut entries, "outputs", (!definition.outputs.is_empty()).then_some(&definition.outputs));
    Value::Object(entries)
}

fn set(entries: &mut Map<String, Value>, name: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        entries.insert(name.to_owned(), json!(value));
    }
}

fn input(spec: &InputSpec) -> Value {
    let mut entries = Map::new();
    entries.insert("type".to_owned(), json!(spec.kind));
    set(&mut entries, "required", spec.required.then_some(true));
    set(&mut entries, "default", spec.default.as_ref());
    set(&mut entries, "description", spec.description.as_ref());
    set(&mut entries, "options", (!spec.options.is_empty()).then_some(&spec.options));
    Value::Object(entries)
}

fn step(step: &Step) -> Value {
    let mut entries = Map::new();
    entries.insert("id".to_owned(), json!(step.id));
    set(&mut entries, "name", step.name.as_ref());
    set(&mut entries, "dependsOn", (!step.depends_on.is_empty()).then_some(&step.depends_on));
    set(&mut entries, "when", step.when.as_ref());
    set(
        &mut entries,
        "ifSkipped",
        (step.if_skipped != Default::default()).then_some(step.if_skipped),
    );
    entries.insert("onError".to_owned(), json!(step.on_error));
    set(&mut entries, "timeout", step.timeout.map(duration_text));
    match &step.kind {
        StepKind::Task(kind) => task(kind, &mut entries),
        StepKind::Workflow(kind) => {
            let which = match &kind.workflow {
                WorkflowRef::Named(name) => json!(name),
                WorkflowRef::Inline(inner) => definition(inner),
            };
            entries.insert("workflow".to_owned(), which);
            set(&mut entries, "with", (!kind.inputs.is_empty()).then_some(&kind.inputs));
        }
        StepKind::Approval(kind) => {
            let mut inner = Map::new();
            set(&mut inner, "by", (!kind.by.is_empty()).then_some(&kind.by));
            set(&mut inner, "message", kind.message.as_ref());
            entries.insert("approval".to_owned(), Value::Object(inner));
        }
        StepKind::Timer(TimerStep::For(duration)) => {
            entries.insert("timer".to_owned(), json!({ "for": duration_text(*duration) }));
        }
        StepKind::Timer(TimerStep::Until(until)) => {
            entries.insert("timer".to_owned(), json!({ "until": until }));
        }
    }
    Value::Object(entries)
}

fn task(task: &TaskStep, entries: &mut Map<String, Value>) {
    entries.insert("pool".to_owned(), json!(task.pool));
    entries.insert("priority".to_owned(), json!(task.priority));
    set(entries, "requires", (!task.requires.is_empty()).then_some(&task.requires));
    set(entries, "agent", task.agent.as_ref());
    set(entries, "session", task.session.as_ref());
    set(entries, "with", (!task.payload.is_empty()).then_some(&task.payload));
    let millis = |millis: u64| duration_text(std::time::Duration::from_millis(millis));
    let mut retries = json!({
        "maxAttempts": task.retry.max_attempts,
        "backoff": {
            "initial": millis(task.retry.delay_ms),
            "max": millis(task.retry.max_delay_ms),
        },
    });
    if task.retry.elsewhere {
        retries["elsewhere"] = json!(true);
    }
    entries.insert("retries".to_owned(), retries);
}
