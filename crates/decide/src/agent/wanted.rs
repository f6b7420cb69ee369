//! Agents that tasks of the queue ask for: steps of workflows, and pieces of the work of teams.

use godel_model::{PoolName, RetryPolicy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The pool of tasks that agents are asked for by. It has no worker but the fleet.
pub const ERRANDS: &str = "errands";

/// An errand is handed out again and again: whoever has it only waits for the agent, which begins anew by
/// itself and knows when to give up.
const ATTEMPTS: u32 = 100;

/// What such a task says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Errand {
    /// Who is to do it, and what.
    pub wanted: Wanted,
}

/// An agent that is asked for, and what it is to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Wanted {
    /// Its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Which agent it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The command line of one that has no own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its walls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// What it may spend, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<i64>,
    /// After how many seconds it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The project, by its id or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The bead to work on; a new one if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bead: Option<String>,
    /// What is to be done, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is to be done.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub task: Value,
    /// What it is given.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
}

impl Wanted {
    /// Returns what the task says.
    pub fn payload(&self) -> Map<String, Value> {
        let wanted = serde_json::to_value(self).unwrap_or_default();
        Map::from_iter([("wanted".to_owned(), wanted)])
    }

    /// Says what is to be done; nothing if only a bead is named.
    pub fn words(&self) -> Option<String> {
        let mut parts: Vec<String> = self.title.iter().cloned().collect();
        parts.extend(text(&self.task));
        let given: Vec<String> = self
            .with
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}: {}", text(value)?)))
            .collect();
        if !given.is_empty() {
            parts.push(format!("What you are given:\n{}", given.join("\n")));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// Returns all that is wrong with it, as far as that can be known without the project.
    pub fn faults(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let known = |word: &Option<String>, words: &[&str]| {
            word.as_deref().is_none_or(|word| words.contains(&word))
        };
        if !known(&self.harness, &super::HARNESSES) {
            wrong.push(format!("`harness` must be one of {}", super::HARNESSES.join(", ")));
        }
        if !known(&self.sandbox, &super::SANDBOXES) {
            wrong.push(format!("`sandbox` must be one of {}", super::SANDBOXES.join(", ")));
        }
        let bare = matches!(self.harness.as_deref(), Some("acp" | "command"));
        if bare && self.command.first().is_none_or(String::is_empty) {
            wrong.push("an agent of this kind needs its command line in `command`".to_owned());
        }
        if self.budget_micros.is_some_and(|budget| budget <= 0) {
            wrong.push("a budget is above 0".to_owned());
        }
        wrong
    }
}

/// Returns the pool of errands.
pub fn errands() -> PoolName {
    PoolName::from_stored(ERRANDS.to_owned())
}

/// Returns how often an errand is handed out.
pub fn errand_retry() -> RetryPolicy {
    let retry = RetryPolicy::default();
    RetryPolicy { max_attempts: ATTEMPTS, delay_ms: 100, max_delay_ms: 5_000, ..retry }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_to_be_done_is_said_in_words() {
        let read = |value: Value| serde_json::from_value::<Wanted>(value).unwrap();
        let all = read(json!({
            "title": "Mend it", "task": "The page is white.",
            "with": { "file": "a.rs", "lines": [1, 2], "nothing": null },
        }));
        let words =
            "Mend it\n\nThe page is white.\n\nWhat you are given:\nfile: a.rs\nlines: [1,2]";
        assert_eq!(all.words().unwrap(), words);
        assert_eq!(read(json!({ "bead": "x-1" })).words(), None);
        assert_eq!(read(all.payload()["wanted"].clone()), all);
        assert!(all.faults().is_empty());
        let wrong = read(json!({ "harness": "acp", "sandbox": "glass", "budgetMicros": 0 }));
        assert_eq!(wrong.faults().len(), 3, "{:?}", wrong.faults());
    }
}
