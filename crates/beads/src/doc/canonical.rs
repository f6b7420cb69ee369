//! The one way to write a value: sorted keys, two spaces, so that equal states are equal bytes.

use std::fmt::Write as _;

use serde_json::Value;

/// Writes a value in its canonical form, without a final newline.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text
}

fn write(value: &Value, depth: usize, into: &mut String) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().map(|item| (None, item));
            block('[', items, ']', depth, into);
        }
        Value::Object(members) if !members.is_empty() => {
            let mut members: Vec<_> = members.iter().map(|(key, item)| (Some(key), item)).collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            block('{', members.into_iter(), '}', depth, into);
        }
        // Writing to a text cannot fail; scalars and empty ones are the same in every form.
        _ => write!(into, "{value}").unwrap_or_default(),
    }
}

fn block<'a>(
    open: char,
    items: impl Iterator<Item = (Option<&'a String>, &'a Value)>,
    close: char,
    depth: usize,
    into: &mut String,
) {
    into.push(open);
    for (at, (key, item)) in items.enumerate() {
        into.push_str(if at == 0 { "\n" } else { ",\n" });
        indent(depth + 1, into);
        if let Some(key) = key {
            write!(into, "{}: ", Value::from(key.as_str())).unwrap_or_default();
        }
        write(item, depth + 1, into);
    }
    into.push('\n');
    indent(depth, into);
    into.push(close);
}

fn indent(depth: usize, into: &mut String) {
    into.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({ "b": [1, {"z": null, "a": "ü\n"}], "a": {}, "c": [] });
        let text = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"a\": \"ü\\n\",\n      \
                    \"z\": null\n    }\n  ],\n  \"c\": []\n}";
        assert_eq!(canonical(&value), text);
    }
}
