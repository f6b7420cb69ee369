//! Steps that agents do: whether the run that is asked for can have them.

use godel_decide::agent::ERRANDS;
use godel_decide::workflow::Definition;
use godel_decide::workflow::definition::{StepKind, WorkflowRef};
use godel_model::Reach;
use serde_json::Value;

use crate::{App, Call, Result, projects};

/// Refuses a workflow whose agents could not begin: because the caller may have none, or nobody knows in which
/// project they would work.
pub(crate) async fn check(app: &App, call: &Call, definition: &Definition) -> Result<()> {
    let mut wanted = Vec::new();
    collect(definition, &mut wanted);
    if wanted.is_empty() {
        return Ok(());
    }
    call.may("agent", "create", Reach::Own)?;
    for one in wanted {
        let project = one.get("project").and_then(Value::as_str);
        // What a template names is known when the step begins; a bead is found wherever it is.
        let later = project.is_some_and(|text| text.contains("{{"));
        if !later && (project.is_some() || one.get("bead").is_none()) {
            projects::meant(app, call, project.map(str::to_owned)).await?;
        }
    }
    Ok(())
}

fn collect<'a>(definition: &'a Definition, into: &mut Vec<&'a Value>) {
    for step in &definition.steps {
        match &step.kind {
            StepKind::Task(task) if task.pool.as_str() == ERRANDS => {
                into.extend(task.payload.get("wanted"));
            }
            StepKind::Workflow(inner) => {
                if let WorkflowRef::Inline(inner) = &inner.workflow {
                    collect(inner, into);
                }
            }
            StepKind::Task(_) | StepKind::Approval(_) | StepKind::Timer(_) => {}
        }
    }
}
