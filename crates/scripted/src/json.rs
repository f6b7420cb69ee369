//! JSON text whose fields stand in the order they are written.
//!
//! Real providers put `type` first and `usage` last, and programs between them and their clients
//! come to rely on it. A map that sorts its keys would hide that.

use serde_json::Value;

/// Writes an object; the values are JSON already.
pub(crate) fn object<const N: usize>(fields: [(&str, String); N]) -> String {
    joined('{', fields.map(|(name, value)| format!("{}:{value}", text(name))), '}')
}

/// Writes a list; the items are JSON already.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    joined('[', items, ']')
}

/// Writes a string.
pub(crate) fn text(value: &str) -> String {
    Value::from(value).to_string()
}

/// Writes a string, or null if there is none.
pub(crate) fn text_or_null(value: Option<&str>) -> String {
    value.map_or_else(null, text)
}

/// Writes null.
pub(crate) fn null() -> String {
    "null".to_owned()
}

/// Adds fields to the end of an object; the values are JSON already.
pub(crate) fn with(object: &str, fields: &[(&str, String)]) -> String {
    let mut result = object.strip_suffix('}').unwrap_or(object).to_owned();
    for (name, value) in fields {
        if !result.ends_with('{') {
            result.push(',');
        }
        result.push_str(&text(name));
        result.push(':');
        result.push_str(value);
    }
    result.push('}');
    result
}

fn joined(open: char, items: impl IntoIterator<Item = String>, close: char) -> String {
    let mut result = String::from(open);
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            result.push(',');
        }
        result.push_str(&item);
    }
    result.push(close);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order() {
        let inner = object([("b", "1".to_owned()), ("a", array([null(), text("\"x\"")]))]);
        assert_eq!(inner, r#"{"b":1,"a":[null,"\"x\""]}"#);
        assert_eq!(object([]), "{}");
    }

    #[test]
    fn fields_are_added_to_any_object() {
        assert_eq!(with("{}", &[("a", "1".to_owned())]), r#"{"a":1}"#);
        assert_eq!(with(r#"{"a":{"b":{}}}"#, &[("c", "2".to_owned())]), r#"{"a":{"b":{}},"c":2}"#);
    }
}
