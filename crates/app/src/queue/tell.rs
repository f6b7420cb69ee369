//! What is told of tasks: an event for each change, in the same transaction.

use godel_model::{EventType, Metadata, Mint, NewEvent, Payload, Source, TaskId, WorkerId};
use godel_store::{Result, Spot, Tx};
use jiff::Timestamp;
use serde::Serialize;

/// Who is told to have done something.
#[derive(Debug, Clone, Default)]
pub struct Author {
    /// The name.
    pub name: Option<String>,
    /// The W3C trace id of the request.
    pub trace_id: Option<String>,
}

/// What an event tells of a task.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct More<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worker: Option<WorkerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    /// For how many microseconds it waits before it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delay_us: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) because: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress: Option<&'a serde_json::value::RawValue>,
    /// For how many microseconds it was ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waited_us: Option<i64>,
    /// For how many microseconds it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) took_us: Option<i64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) after: &'a [TaskId],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<&'a str>,
}

#[derive(Serialize)]
struct Told<'a> {
    task: TaskId,
    attempt: u32,
    priority: &'static str,
    pool: &'a str,
    #[serde(flatten)]
    more: &'a More<'a>,
}

/// Tells of tasks in one transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Teller<'a> {
    pub(crate) mint: Mint,
    pub(crate) now: Timestamp,
    pub(crate) author: &'a Author,
}

impl Teller<'_> {
    pub(super) fn tell(
        &self,
        tx: &mut Tx<'_>,
        kind: &'static str,
        spot: &Spot,
        more: &More<'_>,
    ) -> Result<()> {
        let told = Told {
            task: spot.task,
            attempt: spot.attempt,
            priority: spot.priority.as_str(),
            pool: spot.lane.pool(),
            more,
        };
        tx.record(self.event(kind, &told, ("taskId", spot.task)))
    }

    pub(crate) fn event(
        &self,
        kind: &'static str,
        payload: &impl Serialize,
        about: (&'static str, impl std::fmt::Display),
    ) -> NewEvent {
        NewEvent {
            id: self.mint.id(),
            kind: EventType::known(kind),
            at: self.now,
            source: Source::component("queue"),
            payload: Payload::of(payload),
            metadata: Metadata {
                actor: self.author.name.clone(),
                trace_id: self.author.trace_id.clone(),
                ..Metadata::default()
            }
            .about(about.0, about.1),
        }
    }
}
