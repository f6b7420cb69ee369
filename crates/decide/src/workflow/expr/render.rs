//! Fills in templates.

use std::io;

use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::Value;

use super::super::limits::{
    RENDERED_MAX_BYTES, TEMPLATE_FUEL_MAX, TEMPLATE_FUEL_MIN, TEMPLATE_WORK_MAX,
};
use super::scan::{Syntax, Word, references, words};
use super::template::{ENVIRONMENT, is_template, sentence, tags};
use super::{Scope, gather};

/// Fills in the templates of a value, at any depth.
///
/// A text that is one `{{ .. }}` and nothing else becomes the value itself, of whatever type;
/// anything around it makes it a text.
pub(in super::super) fn render(value: &Value, scope: &dyn Scope) -> Result<Value, String> {
    match value {
        Value::String(text) if is_template(text) => fill(text, scope),
        Value::Array(items) => {
            items.iter().map(|item| render(item, scope)).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| Ok((key.clone(), render(value, scope)?)))
            .collect::<Result<_, String>>()
            .map(Value::Object),
        plain => Ok(plain.clone()),
    }
}

fn fill(text: &str, scope: &dyn Scope) -> Result<Value, String> {
    if let Some(path) = plain_path(text) {
        return look_up(&path, scope).ok_or_else(|| format!("`{}` has no value", path.join(".")));
    }
    let (names, bytes) = gather(&references(text, Syntax::Template)?, scope)?;
    let names = minijinja::Value::from(Serde(&names));
    let environment = with_fuel(bytes);
    if let Some(expression) = sole_expression(text) {
        let value = environment
            .compile_expression(expression)
            .and_then(|expression| expression.eval(names))
            .map_err(|error| sentence(&error))?;
        if value.is_undefined() {
            return Err(format!("`{}` has no value", expression.trim()));
        }
        return to_json(&value);
    }
    let template = environment.template_from_str(text).map_err(|error| sentence(&error))?;
    let mut page = Page(Vec::new());
    template.render_captured_to(names, &mut page).map_err(|error| sentence(&error))?;
    String::from_utf8(page.0).map(Value::String).map_err(|_| "the text is not UTF-8".to_owned())
}

/// An environment whose templates may do the less, the more they read.
fn with_fuel<'a>(bytes: usize) -> Environment<'a> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).max(1);
    let mut environment = ENVIRONMENT.clone();
    let fuel = (TEMPLATE_WORK_MAX / bytes).clamp(TEMPLATE_FUEL_MIN, TEMPLATE_FUEL_MAX);
    environment.set_fuel(Some(fuel));
    environment
}

/// Makes JSON of a value; a list can hold one long text many times, so the size is watched.
fn to_json(value: &minijinja::Value) -> Result<Value, String> {
    let mut page = Page(Vec::new());
    serde_json::to_writer(&mut page, value).map_err(|error| error.to_string())?;
    serde_json::from_slice(&page.0).map_err(|error| error.to_string())
}

/// The inside of a text that is one expression and nothing else.
fn sole_expression(text: &str) -> Option<&str> {
    let text = text.trim();
    let [tag] = tags(text).ok()?[..] else { return None };
    let whole = text.starts_with("{{") && text.ends_with("}}") && !tag.statement;
    let around = text.len().checked_sub(tag.inside.len())?;
    (whole && around <= 6).then_some(tag.inside)
}

/// The path, if a text is one path and nothing else, as most templates are: it is looked up straight.
fn plain_path(text: &str) -> Option<Vec<String>> {
    let words = words(sole_expression(text)?);
    let (Word::Name(root), mut rest) = words.split_first()? else { return None };
    if !["inputs", "steps", "run"].contains(&root.as_str()) {
        return None;
    }
    let mut path = vec![root.clone()];
    while !rest.is_empty() {
        rest = match rest {
            [Word::Sign('.'), Word::Name(name), rest @ ..]
            | [Word::Sign('['), Word::Text(name), Word::Sign(']'), rest @ ..] => {
                path.push(name.clone());
                rest
            }
            _ => return None,
        };
    }
    Some(path)
}

fn look_up(path: &[String], scope: &dyn Scope) -> Option<Value> {
    match path {
        [root] if root == "inputs" => Some(Value::Object(scope.inputs().as_ref().clone())),
        [root, name, rest @ ..] if root == "inputs" => follow(scope.inputs().get(name)?, rest),
        [root, id, rest @ ..] if root == "steps" => {
            let view = scope.step(id)?;
            match rest {
                [field, rest @ ..] if field == "output" => follow(view.output, rest),
                _ => follow(&view.to_json(), rest),
            }
        }
        [_, rest @ ..] => follow(&scope.run(), rest),
        [] => None,
    }
}

fn follow(value: &Value, path: &[String]) -> Option<Value> {
    path.iter().try_fold(value, |value, name| value.get(name)).cloned()
}

/// A page that is full at some point.
struct Page(Vec<u8>);

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > RENDERED_MAX_BYTES {
            return Err(io::Error::other(format!("more than {RENDERED_MAX_BYTES} bytes are made")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
