//! Making up a value that fits a JSON schema.

use serde_json::{Map, Value, json};

/// Schemas may refer to themselves.
const DEPTH_MAX: usize = 12;

/// Makes a value that fits the schema; strings say `word`.
///
/// Every property is filled, not only the required ones. Types may be written in capitals.
pub(crate) fn example(schema: &Value, word: &str) -> Value {
    fill(schema, schema, word, DEPTH_MAX)
}

fn fill(root: &Value, schema: &Value, word: &str, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let fill = |inner: &Value| fill(root, inner, word, depth - 1);
    if let Some(target) = schema["$ref"].as_str().and_then(|path| follow(root, path)) {
        return fill(target);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(first) = schema[key].as_array().and_then(|choices| choices.first()) {
            return fill(first);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().map(fill).fold(json!({}), merged);
    }
    match kind(schema).as_str() {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            Value::Object(fields.map(|(name, inner)| (name.clone(), fill(inner))).collect())
        }
        "array" => {
            let wanted = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 16);
            Value::Array((0..wanted).map(|_| fill(&schema["items"])).collect())
        }
        "integer" => schema["minimum"].as_i64().unwrap_or(1).max(1).into(),
        "number" => schema["minimum"].as_f64().unwrap_or(1.5).max(1.5).into(),
        "boolean" => true.into(),
        "null" => Value::Null,
        _ => text(schema, word).into(),
    }
}

fn kind(schema: &Value) -> String {
    let kind = &schema["type"];
    let named = kind.as_str().or_else(|| kind[0].as_str());
    let implied = if schema["properties"].is_object() { "object" } else { "string" };
    named.unwrap_or(implied).to_ascii_lowercase()
}

fn text(schema: &Value, word: &str) -> String {
    match schema["format"].as_str() {
        Some("date") => "2026-01-31".to_owned(),
        Some("date-time") => "2026-01-31T12:00:00Z".to_owned(),
        Some("uuid") => "00000000-0000-4000-8000-000000000000".to_owned(),
        Some("uri") => "https://example.com/".to_owned(),
        Some("email") => "ann@example.com".to_owned(),
        _ => word.to_owned(),
    }
}

/// Follows `#/a/b` from the root.
fn follow<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    root.pointer(path.strip_prefix('#')?)
}

fn merged(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            Value::Object(left.into_iter().chain(right).collect::<Map<_, _>>())
        }
        (_, right) => right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_schema_gets_a_value() {
        let schema = json!({
            "type": "OBJECT",
            "properties": {
                "title": {"type": "string"},
                "choice": {"enum": ["flash", "pro"]},
                "count": {"type": ["integer", "null"], "minimum": 5},
                "tags": {"type": "ARRAY", "minItems": 2, "items": {"$ref": "#/$defs/tag"}},
                "either": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            },
            "$defs": {"tag": {"type": "object", "properties": {"id": {"const": 3}}}},
        });
        let expected = json!({
            "title": "x", "choice": "flash", "count": 5, "tags": [{"id": 3}, {"id": 3}],
            "either": true,
        });
        assert_eq!(example(&schema, "x"), expected);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert!(example(&schema, "x")["next"]["next"].is_object());
    }
}
