//! Messages of JSON-RPC 2.0: what a line says, and how it is answered. No IO.

use serde_json::{Value, json};

use crate::event::clip;

/// The most messages of one line.
const BATCH_MAX: usize = 64;
/// The longest id that is given back.
const ID_MAX_BYTES: usize = 512;

/// What can be wrong with a message, by the numbers of the protocol.
pub(super) mod wrong {
    pub(in super::super) const PARSE: i64 = -32700;
    pub(in super::super) const REQUEST: i64 = -32600;
    pub(in super::super) const METHOD: i64 = -32601;
    pub(in super::super) const PARAMS: i64 = -32602;
    pub(in super::super) const BUSY: i64 = -32000;
}

/// A message that wants something.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// It wants an answer.
    Request { id: Value, method: String, params: Value },
    /// It wants none.
    Notice { method: String, params: Value },
    /// It is none, and this is the answer to it.
    Bad(Value),
}

/// Reads a line. Answers to us are passed over, since we ask nothing.
pub(super) fn read(line: &[u8]) -> Vec<Message> {
    if line.trim_ascii().is_empty() {
        return Vec::new();
    }
    match serde_json::from_slice(line) {
        Err(_) => vec![bad(wrong::PARSE, "this is no JSON")],
        Ok(Value::Array(many)) if many.is_empty() || many.len() > BATCH_MAX => {
            vec![bad(wrong::REQUEST, "so many messages at once cannot be read")]
        }
        Ok(Value::Array(many)) => many.into_iter().filter_map(one).collect(),
        Ok(single) => one(single).into_iter().collect(),
    }
}

fn one(value: Value) -> Option<Message> {
    let Value::Object(mut fields) = value else {
        return Some(bad(wrong::REQUEST, "a message is an object"));
    };
    if !fields.contains_key("method")
        && (fields.contains_key("result") || fields.contains_key("error"))
    {
        return None;
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        return Some(bad(wrong::REQUEST, "a message has a method"));
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match fields.remove("id") {
        None => Some(Message::Notice { method, params }),
        Some(id) if is_id(&id) => Some(Message::Request { id, method, params }),
        Some(_) => Some(bad(wrong::REQUEST, "an id is a number or a short text")),
    }
}

fn is_id(id: &Value) -> bool {
    id.is_number() || id.as_str().is_some_and(|text| text.len() <= ID_MAX_BYTES)
}

fn bad(code: i64, message: &str) -> Message {
    Message::Bad(error(&Value::Null, code, message))
}

/// Answers a request.
pub(super) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Refuses a request.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    let message = clip(message, 1024);
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
