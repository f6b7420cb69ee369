//! Between the wire and the model.

use std::collections::BTreeSet;

use godel_api::{HeldTask, NewTask, Task, TaskAttempt, TaskRetry};
use godel_model::{self as model, Payload, TaskId, UserId, WorkerId};
use godel_store::{Found, Lease};
use serde_json::value::RawValue;

use crate::error::ApiResult;
use crate::extract::refuse_json;

/// Reads a payload; none is an empty one.
pub(super) fn payload(raw: Option<Box<RawValue>>) -> ApiResult<Payload> {
    match raw {
        Some(raw) => Ok(Payload::from_raw(&raw)?),
        None => Ok(Payload::of(&serde_json::Map::new())),
    }
}

/// Reads a task that is to be made.
pub(super) fn new_task(new: NewTask) -> ApiResult<model::NewTask> {
    let priority = new.priority.map(|text| text.parse()).transpose()?.unwrap_or_default();
    let pool = new.pool.map(|text| text.parse()).transpose()?.unwrap_or_default();
    let requires: BTreeSet<_> =
        new.requires.into_iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let retry = new.retry.unwrap_or_default();
    Ok(model::NewTask {
        title: new.title,
        payload: payload(new.payload)?,
        pool,
        priority,
        requires,
        retry: model::RetryPolicy {
            max_attempts: retry.max_attempts,
            delay_ms: retry.delay_ms,
            max_delay_ms: retry.max_delay_ms,
            elsewhere: retry.elsewhere,
        },
        timeout_seconds: new.timeout_seconds,
        start_at: new.start_at,
        deadline: new.deadline,
        after: new.after.into_iter().map(TaskId::from).collect(),
        session: new.session,
        key: new.key,
        owner: None,
    })
}

fn value(text: Option<String>) -> ApiResult<Option<serde_json::Value>> {
    let read = |text: String| serde_json::from_str(&text).map_err(|error| refuse_json(&error));
    text.map(read).transpose()
}

/// Shows a task.
pub(in crate::routes) fn task(found: Found) -> ApiResult<Task> {
    let asked = found.task.asked;
    Ok(Task {
        id: found.task.id.uuid(),
        title: asked.title,
        payload: asked.payload.read().map_err(|error| refuse_json(&error))?,
        state: found.state.to_string(),
        pool: asked.pool.to_string(),
        priority: found.priority.to_string(),
        asked_priority: asked.priority.to_string(),
        requires: asked.requires.iter().map(ToString::to_string).collect(),
        attempt: found.attempt,
        last_attempt: found.last,
        retry: TaskRetry {
            max_attempts: asked.retry.max_attempts,
            delay_ms: asked.retry.delay_ms,
            max_delay_ms: asked.retry.max_delay_ms,
            elsewhere: asked.retry.elsewhere,
        },
        timeout_seconds: asked.timeout_seconds,
        ready_at: found.ready_at,
        deadline: asked.deadline,
        after: asked.after.into_iter().map(TaskId::uuid).collect(),
        waits_for: found.waits_for,
        session: asked.session,
        key: asked.key,
        owner: asked.owner.map(|owner| owner.to_string()),
        worker_id: found.worker.map(WorkerId::uuid),
        started_at: found.started_at,
        ends_at: found.ends_at,
        progress: value(found.progress)?,
        stopping: found.stopping,
        ended_at: found.ended_at,
        result: value(found.result)?,
        error: found.error,
        because: found.because.map(TaskId::uuid),
        created_at: found.task.created_at,
        created_by: found.task.created_by.map(UserId::uuid),
    })
}

/// Shows the attempts of a task: those that did not succeed, and the one that runs or did.
pub(in crate::routes) fn attempts(found: &Found, failed: Vec<model::Attempt>) -> Vec<TaskAttempt> {
    let mut all: Vec<TaskAttempt> = failed
        .into_iter()
        .map(|one| TaskAttempt {
            number: one.number,
            worker_id: one.worker.uuid(),
            started_at: one.started_at,
            ended_at: one.ended.map(|(at, _)| at),
            ending: one.ended.map(|(_, how)| how.as_str().to_owned()),
            error: one.error,
        })
        .collect();
    let open = matches!(found.state, model::TaskState::Running | model::TaskState::Succeeded);
    if let (true, Some(worker), Some(started_at)) = (open, found.worker, found.started_at) {
        all.push(TaskAttempt {
            number: found.attempt,
            worker_id: worker.uuid(),
            started_at,
            ended_at: found.ended_at,
            ending: found.ended_at.map(|_| "succeeded".to_owned()),
            error: None,
        });
    }
    all
}

/// Shows a task in the hands of a worker.
pub(super) fn held(lease: Lease) -> HeldTask {
    HeldTask {
        task_id: lease.spot.task.uuid(),
        attempt: lease.spot.attempt,
        started_at: lease.started_at,
        stop: lease.cancel,
    }
}
