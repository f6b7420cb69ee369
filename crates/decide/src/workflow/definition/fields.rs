//! Reads the fields of a mapping, and knows which were not asked for.

use std::time::Duration;

use serde_json::Value;

use super::super::limits::NAME_MAX_CHARS;
use super::super::problem::{Findings, Mistake, Position, nearest};
use super::super::source::{Entry, Node, NodeKind};
use super::parse_duration;

/// The fields of one mapping.
pub(crate) struct Fields<'a> {
    what: &'static str,
    at: Position,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Opens a mapping; `what` names it in messages.
    pub(crate) fn open(node: &'a Node, what: &'static str, out: &mut Findings) -> Option<Self> {
        match &node.kind {
            NodeKind::Map(entries) => Some(Self { what, at: node.at, entries, asked: Vec::new() }),
            _ => {
                let message = format!("{what} must be a mapping, not {}", node.describe());
                out.add(Mistake::InvalidValue, node.at, message);
                None
            }
        }
    }

    /// Returns where the mapping begins.
    pub(crate) const fn at(&self) -> Position {
        self.at
    }

    /// Tells whether a field is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == name && !is_nothing(&entry.value))
    }

    /// Returns a field, if it is there and not null.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<&'a Entry> {
        self.take_any(name).filter(|entry| !is_nothing(&entry.value))
    }

    /// Returns a field, if it is there.
    pub(crate) fn take_any(&mut self, name: &'static str) -> Option<&'a Entry> {
        self.asked.push(name);
        self.entries.iter().find(|entry| entry.key == name)
    }

    /// Notes each field that nobody asked for.
    pub(crate) fn finish(self, out: &mut Findings) {
        for entry in self.entries {
            if self.asked.contains(&entry.key.as_str()) {
                continue;
            }
            let message = format!("{} has no field `{}`", self.what, entry.key);
            let near = nearest(&entry.key, self.asked.iter().copied());
            let hint = near.map_or_else(
                || format!("it has {}", self.asked.join(", ")),
                |near| format!("is `{near}` meant?"),
            );
            out.add_with_hint(Mistake::UnknownField, entry.at, message, hint);
        }
    }

    /// Reads a text.
    pub(crate) fn text(&mut self, name: &'static str, out: &mut Findings) -> Option<String> {
        self.take(name).and_then(|entry| text(&entry.value, name, out))
    }

    /// Reads a name: one line that is not too long.
    pub(crate) fn name(&mut self, name: &'static str, out: &mut Findings) -> Option<String> {
        let at = self.take(name)?.value.at;
        let value = self.text(name, out)?;
        let fits = !value.trim().is_empty()
            && value.chars().count() <= NAME_MAX_CHARS
            && !value.chars().any(char::is_control);
        if !fits {
            let message =
                format!("`{name}` must be one line of at most {NAME_MAX_CHARS} characters");
            out.add(Mistake::InvalidName, at, message);
        }
        fits.then_some(value)
    }

    /// Reads a boolean.
    pub(crate) fn flag(&mut self, name: &'static str, out: &mut Findings) -> Option<bool> {
        let entry = self.take(name)?;
        match entry.value.to_json() {
            Value::Bool(flag) => Some(flag),
            _ => wrong(&entry.value, name, "true or false", out),
        }
    }

    /// Reads a whole number within limits.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<u32>,
        out: &mut Findings,
    ) -> Option<u32> {
        let entry = self.take(name)?;
        let number = entry.value.to_json().as_u64().and_then(|number| u32::try_from(number).ok());
        match number.filter(|number| range.contains(number)) {
            Some(number) => Some(number),
            None => {
                let wanted = format!("a whole number from {} to {}", range.start(), range.end());
                wrong(&entry.value, name, &wanted, out)
            }
        }
    }

    /// Reads a duration.
    pub(crate) fn duration(&mut self, name: &'static str, out: &mut Findings) -> Option<Duration> {
        self.take(name).and_then(|entry| duration(&entry.value, name, out))
    }

    /// Reads one of a few words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
        out: &mut Findings,
    ) -> Option<T> {
        let entry = self.take(name)?;
        let written = text(&entry.value, name, out)?;
        let found = choices.iter().find(|(word, _)| *word == written).map(|(_, choice)| *choice);
        if found.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            wrong::<()>(&entry.value, name, &format!("one of {}", words.join(", ")), out);
        }
        found
    }

    /// Reads a list of texts; one text alone counts as a list of one.
    pub(crate) fn texts(
        &mut self,
        name: &'static str,
        out: &mut Findings,
    ) -> Vec<(String, Position)> {
        let Some(entry) = self.take(name) else { return Vec::new() };
        let one = std::slice::from_ref(&entry.value);
        let items = match &entry.value.kind {
            NodeKind::List(items) => items.as_slice(),
            NodeKind::Plain(_) | NodeKind::Text(_) | NodeKind::Map(_) => one,
        };
        items.iter().filter_map(|item| Some((text(item, name, out)?, item.at))).collect()
    }
}

fn is_nothing(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Plain(text) if matches!(text.as_str(), "" | "~" | "null"))
}

/// Reads a text; what is not quoted is taken as it was written.
pub(crate) fn text(node: &Node, name: &str, out: &mut Findings) -> Option<String> {
    match &node.kind {
        NodeKind::Text(text) | NodeKind::Plain(text) => Some(text.clone()),
        NodeKind::List(_) | NodeKind::Map(_) => wrong(node, name, "a text", out),
    }
}

/// Reads a duration.
pub(crate) fn duration(node: &Node, name: &str, out: &mut Findings) -> Option<Duration> {
    let written = text(node, name, out)?;
    let read = parse_duration(&written);
    if read.is_none() {
        let message = format!("`{name}` is not a duration: `{written}`");
        let hint = "write seconds, or such as 500ms, 90s, 1h30m or 2d; at most 366 days";
        out.add_with_hint(Mistake::InvalidDuration, node.at, message, hint);
    }
    read
}

/// Notes that a value is not what it must be.
pub(crate) fn wrong<T>(node: &Node, name: &str, wanted: &str, out: &mut Findings) -> Option<T> {
    let message = format!("`{name}` must be {wanted}, not {}", node.describe());
    let written = match &node.kind {
        NodeKind::Plain(text) | NodeKind::Text(text) if text.len() < 50 => {
            format!("`{name}` must be {wanted}, not `{text}`")
        }
        _ => message,
    };
    out.add(Mistake::InvalidValue, node.at, written);
    None
}
