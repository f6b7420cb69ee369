//! What an agent says and does, told to those who follow it: in pieces that are not too small.

use std::time::{Duration, Instant};

use godel_agents::{SessionEvent, clip};
use godel_model::{NewEvent, TenantId};
use godel_store::{Scope, Tx};
use serde_json::{Value, json};

use crate::doc::Agent;
use crate::{Error, Fleet, Result};

/// How long text is collected before it is told.
const TOLD_EVERY: Duration = Duration::from_millis(400);
/// How much text is collected before it is told.
const TEXT_MAX_BYTES: usize = 8 * 1024;
/// How much of a tool's input or result is told; the conversation has all of it.
const TOOL_MAX_BYTES: usize = 4 * 1024;

/// Collects what is to be told.
pub(super) struct Log {
    waiting: Vec<(&'static str, Value)>,
    text: String,
    thought: String,
    since: Option<Instant>,
}

impl Log {
    pub(super) const fn new() -> Self {
        Self { waiting: Vec::new(), text: String::new(), thought: String::new(), since: None }
    }

    /// Takes in what happened.
    pub(super) fn add(&mut self, event: &SessionEvent) {
        self.since.get_or_insert_with(Instant::now);
        match event {
            SessionEvent::Text { text } => {
                self.close_thought();
                self.text.push_str(text);
            }
            SessionEvent::Thinking { text } => {
                self.close_text();
                self.thought.push_str(text);
            }
            other => {
                self.close();
                self.waiting.extend(told(other));
            }
        }
    }

    fn close_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.waiting.push(("agent:text", json!({ "text": clip(&text, TEXT_MAX_BYTES * 4) })));
        }
    }

    fn close_thought(&mut self) {
        if !self.thought.is_empty() {
            let text = std::mem::take(&mut self.thought);
            self.waiting.push(("agent:thinking", json!({ "text": clip(&text, TEXT_MAX_BYTES) })));
        }
    }

    fn close(&mut self) {
        self.close_text();
        self.close_thought();
    }

    /// Tells whether it is time to tell.
    pub(super) fn is_due(&self) -> bool {
        self.text.len() + self.thought.len() > TEXT_MAX_BYTES
            || self.since.is_some_and(|since| since.elapsed() > TOLD_EVERY)
    }

    /// Tells what was collected, in one transaction.
    pub(super) async fn flush(
        &mut self,
        fleet: &Fleet,
        tenant: TenantId,
        agent: &Agent,
    ) -> Result<()> {
        self.close();
        self.since = None;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let events: Vec<NewEvent> =
            waiting.iter().map(|(kind, payload)| fleet.event(agent, kind, payload)).collect();
        let work = move |tx: &mut Tx<'_>| {
            for event in &events {
                tx.record(event.clone())?;
            }
            Ok::<_, Error>(())
        };
        fleet.app().store.write(Scope::Tenant(tenant), work).await?;
        Ok(())
    }
}

fn told(event: &SessionEvent) -> Option<(&'static str, Value)> {
    Some(match event {
        SessionEvent::ToolCall { call, name, input } => {
            let input = clip(&input.to_string(), TOOL_MAX_BYTES);
            ("agent:tool:call", json!({ "call": call, "name": name, "input": input }))
        }
        SessionEvent::ToolResult { call, text, failed } => {
            let text = clip(text, TOOL_MAX_BYTES);
            ("agent:tool:result", json!({ "call": call, "text": text, "failed": failed }))
        }
        SessionEvent::FileChange { path, change } => {
            ("agent:file", json!({ "path": clip(path, 1_000), "change": change }))
        }
        SessionEvent::Usage { usage } => ("agent:usage", json!({ "usage": usage })),
        SessionEvent::Context { used, most } => {
            ("agent:context", json!({ "used": used, "most": most }))
        }
        SessionEvent::Trouble { message } => {
            ("agent:trouble", json!({ "message": clip(message, TOOL_MAX_BYTES) }))
        }
        SessionEvent::Compacted { summary } => {
            ("agent:compacted", json!({ "summary": clip(summary, TEXT_MAX_BYTES) }))
        }
        SessionEvent::SaysDone { summary } => {
            ("agent:says:done", json!({ "summary": clip(summary, TOOL_MAX_BYTES) }))
        }
        SessionEvent::TurnEnded { outcome } => ("agent:turn", json!({ "outcome": outcome })),
        SessionEvent::Started { .. }
        | SessionEvent::Text { .. }
        | SessionEvent::Thinking { .. }
        | SessionEvent::Todos { .. }
        | SessionEvent::Question { .. }
        | SessionEvent::Mail { .. }
        | SessionEvent::Ended { .. } => return None,
    })
}
