//! Writing frames.

use std::fmt::Write as _;
use std::sync::Arc;

use godel_api::{ErrorBody, FrameKind, Lagged};
use godel_model::Event;
use godel_store::Logged;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::ApiError;

/// Renders an event once for all who read it.
pub(crate) fn render_event(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

#[derive(Serialize)]
struct Frame<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: FrameKind,
    timestamp: Timestamp,
    payload: &'a Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    metadata: Value,
}

fn frame(id: &str, kind: FrameKind, now: Timestamp, payload: &Value, metadata: Value) -> String {
    let frame = Frame { id, kind, timestamp: now, payload, metadata };
    serde_json::to_string(&frame).unwrap_or_default()
}

/// Writes one event, or several as one frame; their rendered forms are copied, not made again.
pub(super) fn events(subscription: &str, events: &[Arc<Logged>], now: Timestamp) -> String {
    let rendered: Vec<&str> = events.iter().map(|logged| logged.rendered(render_event)).collect();
    let last = events.last().map_or(0, |logged| logged.event.seq.0);
    let length: usize = rendered.iter().map(|text| text.len() + 1).sum();
    let mut text = String::with_capacity(length + 200);
    // Writing to a String cannot fail.
    let written = match rendered.as_slice() {
        [one] => write!(
            text,
            r#"{{"id":"evt-{last}","type":"event","timestamp":"{now}","payload":{one},"metadata":{{"subscriptionId":"{subscription}"}}}}"#
        ),
        many => {
            let mut start = write!(
                text,
                r#"{{"id":"evt-{last}","type":"events","timestamp":"{now}","payload":{{"events":["#
            );
            for (index, one) in many.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(one);
            }
            start = start
                .and(write!(text, r#"]}},"metadata":{{"subscriptionId":"{subscription}"}}}}"#));
            start
        }
    };
    debug_assert!(written.is_ok());
    text
}

/// Writes that something was skipped.
pub(super) fn lagged(subscription: &str, lagged: &Lagged, now: Timestamp) -> String {
    let id = format!("lag-{}", lagged.to_sequence);
    frame(&id, FrameKind::Lagged, now, &json!(lagged), json!({ "subscriptionId": subscription }))
}

/// Writes the answer to a frame of the client.
pub(super) fn response(
    to: Option<&str>,
    result: Result<Value, ApiError>,
    now: Timestamp,
) -> String {
    let payload = match result {
        Ok(data) => json!({ "success": true, "data": data }),
        Err(error) => json!({ "success": false, "error": ErrorBody::from(error) }),
    };
    let id = to.unwrap_or("response");
    frame(id, FrameKind::Response, now, &payload, json!({ "correlationId": to }))
}

/// Writes that a frame of the client was not understood.
pub(super) fn error(to: Option<&str>, error: ApiError, now: Timestamp) -> String {
    let metadata = to.map_or(Value::Null, |to| json!({ "correlationId": to }));
    frame(to.unwrap_or("error"), FrameKind::Error, now, &json!(ErrorBody::from(error)), metadata)
}

/// Writes a sign of life, with the position of the last event that was sent: who has not got it has lost it.
pub(super) fn pong(to: Option<&str>, head: Option<i64>, now: Timestamp) -> String {
    let metadata = to.map_or(Value::Null, |to| json!({ "correlationId": to }));
    let payload = head.map_or_else(|| json!({}), |head| json!({ "head": head }));
    frame(to.unwrap_or("pong"), FrameKind::Pong, now, &payload, metadata)
}

#[cfg(test)]
mod tests {
    use godel_model::{Clock as _, Metadata, Mint, Payload, Seq, Source, SystemClock};

    use super::*;

    /// The server writes the model's own form; clients read the contract's. They must be the same.
    #[test]
    fn an_event_is_written_as_the_contract_says() {
        let mut metadata = Metadata::default().about("projectId", "p1");
        metadata.correlation_id = Some("c1".to_owned());
        metadata.causation_id = Some(Mint::system().id());
        metadata.actor = Some("key:owner".to_owned());
        metadata.trace_id = Some("t1".to_owned());
        let event = Event {
            id: Mint::system().id(),
            seq: Seq(7),
            kind: "agent:start".parse().unwrap(),
            at: SystemClock.now(),
            source: Source { version: Some("1".to_owned()), ..Source::component("app") },
            payload: Payload::of(&json!({ "n": [1, 2.5, "x"] })),
            metadata,
        };
        let written: Value = serde_json::from_str(&render_event(&event)).unwrap();
        let read: godel_api::Event = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(json!(read), written);
    }

    #[test]
    fn an_id_from_outside_cannot_break_a_frame() {
        let now = SystemClock.now();
        for hostile in ["\"", "\\", "a\"},\"x\":{\"", "\u{0}\n"] {
            let text = response(Some(hostile), Ok(Value::Null), now);
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read["metadata"]["correlationId"], hostile);
        }
    }
}
