//! JSON Schema, and what Gemini writes in its place.

use std::collections::HashSet;

use super::json::{Json, Key, object};

/// Makes a schema that is surely one of an object.
pub(crate) fn of_object(schema: Option<&Json>) -> Json {
    match schema {
        Some(schema) if schema.get("type").is_some() => schema.clone(),
        Some(Json::Map(entries)) if !entries.is_empty() => {
            let kind = (Key::Borrowed("type"), Json::from("object"));
            Json::Map(std::iter::once(kind).chain(entries.iter().cloned()).collect())
        }
        _ => object! { "type" => "object", "properties" => Json::Map(Vec::new()) },
    }
}

/// Tells whether every object lists all its properties as required and allows no others, which
/// is what OpenAI demands before it guarantees the shape of an answer.
pub(crate) fn is_strict(schema: &Json) -> bool {
    match schema {
        Json::List(list) => list.iter().all(is_strict),
        Json::Map(entries) => {
            let Some(Json::Map(properties)) = schema.get("properties") else {
                return schema.text("type") != Some("object")
                    && entries.iter().all(|(_, value)| is_strict(value));
            };
            let required: HashSet<&str> =
                schema.list("required").iter().filter_map(Json::as_text).collect();
            let listed = |key: &Key| required.contains(key.as_ref());
            schema.flag("additionalProperties") == Some(false)
                && properties.iter().all(|(key, value)| listed(key) && is_strict(value))
                && entries
                    .iter()
                    .filter(|(key, _)| key != "properties")
                    .all(|(_, value)| is_strict(value))
        }
        _ => true,
    }
}

/// Makes a schema of an answer that Anthropic accepts: objects take no other properties, and
/// limits of values are left out.
pub(crate) fn closed(schema: &Json) -> Json {
    const LIMITS: [&str; 9] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
    ];
    let Json::Map(entries) = schema else { return schema.clone() };
    let kept = entries.iter().filter(|(key, _)| !LIMITS.contains(&key.as_ref()));
    let mut made = Json::Map(kept.map(closed_entry).collect());
    let open = schema.get("additionalProperties").is_none();
    if open && schema.get("properties").is_some() {
        made.put("additionalProperties", false);
    }
    made
}

fn closed_entry((key, value): &(Key, Json)) -> (Key, Json) {
    let value = match (key.as_ref(), value) {
        ("properties" | "$defs" | "definitions", Json::Map(schemas)) => {
            let each = |(name, schema): &(Key, Json)| (name.clone(), closed(schema));
            Json::Map(schemas.iter().map(each).collect())
        }
        ("items" | "additionalProperties", value) => closed(value),
        ("anyOf" | "allOf" | "oneOf", Json::List(list)) => {
            Json::List(list.iter().map(closed).collect())
        }
        (_, value) => value.clone(),
    };
    (key.clone(), value)
}

/// Makes JSON Schema of Gemini's own: types in lower case, and null as one of them.
pub(crate) fn of_openapi(schema: &Json) -> Json {
    match schema {
        Json::List(list) => Json::List(list.iter().map(of_openapi).collect()),
        Json::Map(entries) => {
            let nullable = schema.flag("nullable") == Some(true);
            let kept = entries.iter().filter(|(key, _)| {
                !matches!(key.as_ref(), "nullable" | "propertyOrdering" | "property_ordering")
            });
            Json::Map(kept.map(|entry| openapi_entry(entry, nullable)).collect())
        }
        other => other.clone(),
    }
}

fn openapi_entry((key, value): &(Key, Json), nullable: bool) -> (Key, Json) {
    let value = match (key.as_ref(), value) {
        ("type", Json::Text(kind)) => {
            let kind = Json::Text(kind.to_ascii_lowercase());
            if nullable { Json::List(vec![kind, "null".into()]) } else { kind }
        }
        ("properties", Json::Map(properties)) => {
            let each = |(name, schema): &(Key, Json)| (name.clone(), of_openapi(schema));
            Json::Map(properties.iter().map(each).collect())
        }
        // Values, not schemas.
        ("enum" | "example" | "default" | "required", value) => value.clone(),
        // Limits are 64-bit numbers there, which are written as text.
        (
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties",
            Json::Text(number),
        ) => number.parse::<u64>().map_or_else(|_| value.clone(), Json::from),
        (_, value) => of_openapi(value),
    };
    let key = match key.as_ref() {
        "any_of" => "anyOf".into(),
        "min_items" => "minItems".into(),
        "max_items" => "maxItems".into(),
        _ => key.clone(),
    };
    (key, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn types_of_gemini_become_those_of_json_schema() {
        let theirs = parse(
            r#"{"type":"OBJECT","properties":{"type":{"type":"STRING","nullable":true,
            "enum":["A"]},"n":{"type":"ARRAY","items":{"type":"integer"},"minItems":"2"}},
            "propertyOrdering":["n"]}"#,
        );
        let ours = parse(
            r#"{"type":"object","properties":{"type":{"type":["string","null"],
            "enum":["A"]},"n":{"type":"array","items":{"type":"integer"},"minItems":2}}}"#,
        );
        assert_eq!(of_openapi(&theirs), ours);
    }

    #[test]
    fn the_schema_of_an_answer_is_closed() {
        let given = parse(
            r#"{"type":"object","properties":{"minimum":{"type":"integer","minimum":1},
            "list":{"type":"array","items":{"type":"object","properties":{}}}}}"#,
        );
        let made = parse(
            r#"{"type":"object","properties":{"minimum":{"type":"integer"},
            "list":{"type":"array","items":{"type":"object","properties":{},
            "additionalProperties":false}}},"additionalProperties":false}"#,
        );
        assert_eq!(closed(&given), made);
    }

    #[test]
    fn a_strict_schema_requires_all_and_allows_no_more() {
        let strict = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
            "additionalProperties":false}"#;
        assert!(is_strict(&parse(strict)));
        assert!(!is_strict(&parse(&strict.replace("\"a\"]", "]"))));
        assert!(!is_strict(&parse(&strict.replace("false", "true"))));
        assert!(!is_strict(&parse(&format!(
            r#"{{"type":"array","items":{}}}"#,
            "{\"type\":\"object\"}"
        ))));
    }

    #[test]
    fn every_schema_of_a_tool_is_one_of_an_object() {
        for (given, made) in [
            (None, r#"{"type":"object","properties":{}}"#),
            (Some("{}"), r#"{"type":"object","properties":{}}"#),
            (Some(r#"{"oneOf":[]}"#), r#"{"type":"object","oneOf":[]}"#),
        ] {
            assert_eq!(of_object(given.map(parse).as_ref()), parse(made));
        }
    }
}
