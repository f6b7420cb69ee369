//! Which events a reader wants.

use std::collections::BTreeMap;

use crate::{Event, Invalid, Pattern, ProjectId, code};

const PATTERNS_MAX: usize = 32;
const FIELDS_MAX: usize = 8;
const VALUE_MAX_CHARS: usize = 200;

/// Selects events by type and by what they belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct EventFilter {
    patterns: Vec<Pattern>,
    fields: BTreeMap<String, String>,
    /// The projects whose events may be seen; empty means all.
    projects: Vec<String>,
}

impl EventFilter {
    /// Selects the events that match one of the patterns (none: all) and each of the fields.
    ///
    /// A field is `source`, `correlationId`, `causationId`, `actor`, `traceId` or the name of a
    /// reference such as `projectId`.
    ///
    /// # Errors
    /// If there are too many of them, or one is too long.
    pub fn new(
        mut patterns: Vec<Pattern>,
        fields: BTreeMap<String, String>,
    ) -> Result<Self, Invalid> {
        if patterns.len() > PATTERNS_MAX {
            return Err(Invalid::new(
                code::INVALID_PATTERN,
                format!("at most {PATTERNS_MAX} patterns can be combined"),
            ));
        }
        let fits = |text: &String| text.chars().count() <= VALUE_MAX_CHARS;
        if fields.len() > FIELDS_MAX
            || !fields.iter().all(|(name, value)| fits(name) && fits(value))
        {
            return Err(Invalid::new(
                code::INVALID_QUERY,
                format!("a filter takes at most {FIELDS_MAX} fields of at most 200 characters"),
            ));
        }
        patterns.sort();
        patterns.dedup();
        if patterns.contains(&Pattern::any()) {
            patterns.clear();
        }
        Ok(Self { patterns, fields, projects: Vec::new() })
    }

    /// Selects every event.
    pub fn all() -> Self {
        Self::default()
    }

    /// Tells whether every event is selected.
    pub fn is_all(&self) -> bool {
        self.patterns.is_empty() && self.fields.is_empty() && self.projects.is_empty()
    }

    /// Tells whether an event is selected.
    pub fn matches(&self, event: &Event) -> bool {
        self.shows(event)
            && (self.patterns.is_empty() || self.patterns.iter().any(|p| p.matches(&event.kind)))
            && self.fields.iter().all(|(name, value)| field_is(event, name, value))
    }
}

impl EventFilter {
    /// Narrows the filter to events of these projects and of none; without any, to nothing less.
    #[must_use]
    pub fn within(mut self, projects: &[ProjectId]) -> Self {
        self.projects = projects.iter().map(ToString::to_string).collect();
        self
    }

    /// Tells whether the event is of a project that may be seen, or of none.
    fn shows(&self, event: &Event) -> bool {
        let project = event.metadata.refs.get("projectId");
        self.projects.is_empty() || project.is_none_or(|id| self.projects.contains(id))
    }
}

fn field_is(event: &Event, name: &str, value: &str) -> bool {
    let metadata = &event.metadata;
    match name {
        "source" => event.source.component == value,
        "correlationId" => metadata.correlation_id.as_deref() == Some(value),
        "causationId" => metadata.causation_id.is_some_and(|id| id.to_string() == value),
        "actor" => metadata.actor.as_deref() == Some(value),
        "traceId" => metadata.trace_id.as_deref() == Some(value),
        other => metadata.refs.get(other).is_some_and(|id| id == value),
    }
}
