//! As much of JSON Schema as descriptions of forges use.

use serde_json::{Map, Value, json};

/// How deep a schema is followed.
const DEPTH_MAX: usize = 40;

/// Resolves references of a description.
pub(crate) fn resolve<'a>(whole: &'a Value, mut node: &'a Value) -> &'a Value {
    while let Some(reference) = node["$ref"].as_str() {
        node = whole.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
    }
    node
}

/// Finds all that is wrong with a value; what the schema does not name is wrong too.
pub(crate) fn check(whole: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    judge(whole, schema, (value, "", 0), &mut wrong);
    wrong
}

fn judge(
    whole: &Value,
    schema: &Value,
    (value, at, depth): (&Value, &str, usize),
    wrong: &mut Vec<String>,
) {
    let schema = resolve(whole, schema);
    let mut complain =
        |why: String| wrong.push(format!("{}: {why}", if at.is_empty() { "/" } else { at }));
    if depth > DEPTH_MAX {
        return complain("it is too deep".to_owned());
    }
    if value.is_null() {
        if schema["nullable"] != true && !schema_is_empty(schema) {
            complain("it must not be null".to_owned());
        }
        return;
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[word].as_array() {
            let fits = |one: &&Value| {
                let mut inner = Vec::new();
                judge(whole, one, (value, at, depth + 1), &mut inner);
                inner.is_empty()
            };
            if !choices.iter().any(|one| fits(&one)) {
                complain(format!("it is none of the {} that it may be", choices.len()));
            }
            return;
        }
    }
    if let Some(all) = schema["allOf"].as_array() {
        return judge(whole, &joined(whole, all), (value, at, depth + 1), wrong);
    }
    if let Some(kind) = schema["type"].as_str()
        && !is(kind, value)
    {
        return complain(format!("it must be {kind}, not {value}"));
    }
    if let Some(all) = schema["enum"].as_array()
        && !all.contains(value)
    {
        complain(format!("{value} is none of {}", schema["enum"]));
    }
    if let Some(text) = value.as_str() {
        let good = match schema["format"].as_str() {
            Some("date-time") => text.len() >= 20 && text.contains('T'),
            Some("uri") => text.contains("://"),
            _ => true,
        };
        if !good {
            complain(format!("{text:?} is no {}", schema["format"]));
        }
    }
    match value {
        Value::Object(fields) => object(whole, schema, (fields, at, depth), wrong),
        Value::Array(all) => {
            for (index, one) in all.iter().enumerate() {
                let at = format!("{at}/{index}");
                judge(whole, &schema["items"], (one, &at, depth + 1), wrong);
            }
        }
        _ => {}
    }
}

fn object(
    whole: &Value,
    schema: &Value,
    (fields, at, depth): (&Map<String, Value>, &str, usize),
    wrong: &mut Vec<String>,
) {
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            wrong.push(format!("{at}/{name}: it is missing"));
        }
    }
    for (name, value) in fields {
        let at = format!("{at}/{name}");
        match (known.get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => judge(whole, schema, (value, &at, depth + 1), wrong),
            (None, Value::Object(_)) => {
                judge(whole, &schema["additionalProperties"], (value, &at, depth + 1), wrong);
            }
            (None, Value::Bool(true)) => {}
            (None, _) if known.is_empty() => {}
            (None, _) => wrong.push(format!("{at}: the description does not know it")),
        }
    }
}

/// One schema of several that all hold.
fn joined(whole: &Value, all: &[Value]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for one in all {
        let one = resolve(whole, one);
        properties.extend(one["properties"].as_object().cloned().unwrap_or_default());
        required.extend(one["required"].as_array().cloned().unwrap_or_default());
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

fn schema_is_empty(schema: &Value) -> bool {
    schema.as_object().is_none_or(Map::is_empty)
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Makes the smallest value that a schema allows, for all that a test does not care about.
pub(crate) fn sample(whole: &Value, schema: &Value) -> Value {
    let schema = resolve(whole, schema);
    if schema["nullable"] == true {
        return Value::Null;
    }
    sample_there(whole, schema)
}

/// The same of what is not null.
pub(crate) fn sample_there(whole: &Value, schema: &Value) -> Value {
    for word in ["oneOf", "anyOf"] {
        if let Some(first) = schema[word].get(0) {
            return sample(whole, first);
        }
    }
    if let Some(all) = schema["allOf"].as_array() {
        return sample(whole, &joined(whole, all));
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("date-time")) => json!("2026-01-01T00:00:00Z"),
        (Some("string"), Some("uri")) => json!("https://forge.invalid/"),
        (Some("string"), _) => json!("some"),
        (Some("integer" | "number"), _) => json!(1),
        (Some("boolean"), _) => json!(false),
        (Some("array"), _) => json!([]),
        _ => {
            let names = schema["required"].as_array().into_iter().flatten();
            let made = names
                .filter_map(Value::as_str)
                .map(|name| (name.to_owned(), sample(whole, &schema["properties"][name])));
            Value::Object(made.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let whole = json!({ "components": { "schemas": { "word": { "type": "string", "enum": ["a", "b"] } } } });
        let schema = json!({
            "type": "object", "required": ["name", "kind"], "properties": {
                "name": { "type": "string" }, "kind": { "$ref": "#/components/schemas/word" },
                "size": { "type": "integer", "nullable": true },
                "any": { "oneOf": [{ "type": "string" }, { "type": "integer" }] },
                "all": { "type": "array", "items": { "type": "boolean" } },
                "free": { "type": "object", "additionalProperties": { "type": "integer" } },
            },
        });
        let good = json!({ "name": "x", "kind": "b", "size": null, "any": 3, "all": [true], "free": { "y": 1 } });
        assert_eq!(check(&whole, &schema, &good), Vec::<String>::new());
        for (field, bad, says) in [
            ("name", json!(3), "/name: it must be string"),
            ("name", json!(null), "/name: it must not be null"),
            ("kind", json!("c"), "/kind: \"c\" is none of"),
            ("any", json!(true), "/any: it is none of the 2"),
            ("all", json!([true, 1]), "/all/1: it must be boolean"),
            ("free", json!({ "y": "z" }), "/free/y: it must be integer"),
            ("more", json!(1), "/more: the description does not know it"),
        ] {
            let mut value = good.clone();
            value[field] = bad;
            let wrong = check(&whole, &schema, &value);
            assert!(wrong.len() == 1 && wrong[0].starts_with(says), "{wrong:?}");
        }
        assert_eq!(check(&whole, &schema, &json!({})).len(), 2);
        assert_eq!(check(&whole, &schema, &sample(&whole, &schema)), Vec::<String>::new());
    }
}
