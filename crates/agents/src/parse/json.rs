//! Small helpers to look into JSON of which nothing is sure.

use serde_json::Value;

/// Returns the text under a key, or an empty one.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns a count under a key; what nobody could mean is none.
pub(super) fn count(value: &Value, key: &str) -> u64 {
    const COUNT_MAX: u64 = 1 << 40;
    value[key].as_u64().filter(|count| *count <= COUNT_MAX).unwrap_or(0)
}

/// Returns the list under a key, or an empty one.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Returns what people read in a result: text, a list of parts that have some, or the JSON itself.
pub(super) fn readable(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(readable).collect();
            texts.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => {
            let inner = fields.get("text").or_else(|| fields.get("content"));
            inner.map_or_else(|| value.to_string(), readable)
        }
        other => other.to_string(),
    }
}
