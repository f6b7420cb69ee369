//! A step that is done by an agent: it names a `role` or a `harness`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::super::problem::{Findings, Mistake};
use super::fields::{Fields, wrong};
use super::read::{Defaults, note_templates};
use super::step::{Noted, mapping, word};
use super::{StepKind, TaskStep};
use crate::agent::{HARNESSES, SANDBOXES, Wanted, errand_retry, errands};

/// What is said of workers, and has no meaning for an agent.
const OF_WORKERS: [&str; 7] =
    ["pool", "requires", "agent", "agentSelector", "session", "run", "retries"];
/// A million dollars.
const BUDGET_MAX: f64 = 1e6;

/// Tells whether an agent is to do a step.
pub(super) fn is_one(fields: &Fields<'_>) -> bool {
    fields.has("role") || fields.has("harness")
}

/// Reads a step that is done by an agent; the time that it has is the agent's, not the queue's.
pub(super) fn read(
    fields: &mut Fields<'_>,
    defaults: &Defaults,
    timeout: &mut Option<Duration>,
    noted: &mut Noted,
    out: &mut Findings,
) -> StepKind {
    for name in OF_WORKERS {
        if let Some(entry) = fields.take(name) {
            let message = format!("`{name}` is for workers, and this step is done by an agent");
            let hint = match name {
                "run" => "say what is to be done in `task`",
                "retries" => "leave it out: an agent begins anew by itself",
                _ => "leave it out, or leave out `role` and `harness`",
            };
            out.add_with_hint(Mistake::InvalidValue, entry.at, message, hint);
        }
    }
    let harness = fields.choice("harness", &HARNESSES.map(|name| (name, name)), out);
    let sandbox = fields.choice("sandbox", &SANDBOXES.map(|name| (name, name)), out);
    let mut named = |name: &'static str, out: &mut Findings| {
        let entry = fields.take(name)?;
        note_templates(&entry.value, &mut noted.mentions, out);
        fields.name(name, out)
    };
    let (role, model) = (named("role", out), named("model", out));
    let (project, bead) = (named("project", out), named("bead", out));
    let title = fields.take("name").map(|entry| entry.value.to_json());
    let title = title.and_then(|name| name.as_str().map(str::to_owned));
    let command = fields.texts("command", out).into_iter().map(|(word, _)| word).collect();
    let budget_micros = budget(fields, out);
    let mut with: Map<String, Value> = mapping(fields, noted, out);
    let mut task = with.remove("task").unwrap_or_default();
    if let Some(entry) = fields.take("task") {
        note_templates(&entry.value, &mut noted.mentions, out);
        if !task.is_null() {
            let message = "`task` is there twice: in the step and under `with`";
            out.add(Mistake::DuplicateField, entry.at, message);
        }
        task = entry.value.to_json();
    }
    let wanted = Wanted {
        role,
        harness: harness.map(str::to_owned),
        command,
        model,
        sandbox: sandbox.map(str::to_owned),
        budget_micros,
        timeout_seconds: timeout.take().map(|time| time.as_secs().max(1)),
        project,
        bead,
        title,
        task,
        with,
    };
    if wanted.task.is_null() && wanted.bead.is_none() {
        let hint = "say what is to be done in `task`, or name a `bead`";
        out.add_with_hint(Mistake::MissingField, fields.at(), "the agent has nothing to do", hint);
    }
    let at = fields.take("harness").map_or(fields.at(), |entry| entry.value.at);
    for why in wanted.faults() {
        out.add(Mistake::InvalidValue, at, why);
    }
    StepKind::Task(TaskStep {
        pool: errands(),
        priority: word(fields, "priority", out).unwrap_or(defaults.priority),
        payload: wanted.payload(),
        retry: errand_retry(),
        ..TaskStep::default()
    })
}

/// Reads an amount in dollars.
fn budget(fields: &mut Fields<'_>, out: &mut Findings) -> Option<i64> {
    let entry = fields.take("budget")?;
    let dollars = entry.value.to_json().as_f64();
    match dollars.filter(|dollars| *dollars > 0.0 && *dollars <= BUDGET_MAX) {
        // It fits by far, and is above nothing.
        Some(dollars) => Some(((dollars * 1e6).round() as i64).max(1)),
        None => wrong(&entry.value, "budget", "a number of dollars such as 2.5", out),
    }
}
