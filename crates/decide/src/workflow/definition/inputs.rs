//! What a run is given, checked against what the workflow asks for.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::limits::INPUTS_MAX_BYTES;
use super::super::problem::nearest;
use super::{InputKind, InputSpec};

impl InputKind {
    /// All types.
    pub const ALL: [Self; 7] = [
        Self::Any,
        Self::String,
        Self::Number,
        Self::Integer,
        Self::Boolean,
        Self::Array,
        Self::Object,
    ];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Tells whether a value is of this type.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// Says what is wrong with a value, if anything is.
pub(super) fn misfit(spec: &InputSpec, value: &Value) -> Option<String> {
    if !spec.kind.fits(value) {
        return Some(format!("must be of type {}", spec.kind.as_str()));
    }
    if !spec.options.is_empty() && !spec.options.contains(value) {
        let options: Vec<String> = spec.options.iter().map(Value::to_string).collect();
        return Some(format!("must be one of {}", options.join(", ")));
    }
    None
}

/// Checks what is given and adds the defaults; an input that is left out and need not be is null.
pub(super) fn bind(
    specs: &BTreeMap<String, InputSpec>,
    mut given: Map<String, Value>,
) -> Result<Map<String, Value>, Vec<String>> {
    let mut wrong = Vec::new();
    for name in given.keys().filter(|name| !specs.contains_key(*name)) {
        let near = nearest(name, specs.keys().map(String::as_str));
        let hint = near.map(|near| format!("; is `{near}` meant?")).unwrap_or_default();
        wrong.push(format!("there is no input `{name}`{hint}"));
    }
    for (name, spec) in specs {
        match given.get(name) {
            None | Some(Value::Null) => match &spec.default {
                Some(default) => {
                    given.insert(name.clone(), default.clone());
                }
                None if spec.required => wrong.push(format!("the input `{name}` is missing")),
                None => {
                    given.insert(name.clone(), Value::Null);
                }
            },
            Some(value) => {
                wrong.extend(misfit(spec, value).map(|why| format!("the input `{name}` {why}")));
            }
        }
    }
    if serde_json::to_string(&given).map_or(usize::MAX, |text| text.len()) > INPUTS_MAX_BYTES {
        wrong.push(format!("the inputs have more than {INPUTS_MAX_BYTES} bytes"));
    }
    if wrong.is_empty() { Ok(given) } else { Err(wrong) }
}
