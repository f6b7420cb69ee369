//! What a fresh session is told of what came before it.

use godel_llm::translate::talk::Item;

use super::{Entry, Tree};
use crate::event::{Todo, TodoState, clip};

/// The most bytes of one part of such a text.
const PART_MAX_BYTES: usize = 8 * 1024;
/// How many of the last things that were said are told.
const LAST_MAX: usize = 6;
/// How many of the last tools are told.
const CALLS_MAX: usize = 12;

/// What a fresh session needs to know.
#[derive(Debug, Clone, Default)]
pub struct Prime<'a> {
    /// The work to do: title and description of the bead.
    pub task: &'a str,
    /// What is to be kept to, such as what is remembered in the project.
    pub rules: &'a str,
    /// The things to do that are known.
    pub todos: &'a [Todo],
    /// The note of the session before, if there was one.
    pub handoff: Option<&'a str>,
}

/// What is known about a session that ends.
#[derive(Debug, Clone, Default)]
pub struct Handoff<'a> {
    /// Why it ends.
    pub reason: &'a str,
    /// The things to do.
    pub todos: &'a [Todo],
    /// What git says: commits made, and files that are changed.
    pub work: &'a str,
}

/// Writes what a fresh session is told first.
pub fn prime(prime: &Prime<'_>) -> String {
    let mut text = String::new();
    part(&mut text, "Task", prime.task);
    part(&mut text, "Rules", prime.rules);
    part(&mut text, "Todos", &todo_list(prime.todos));
    part(&mut text, "Note of the agent before you", prime.handoff.unwrap_or_default());
    text
}

/// Writes the note that a session leaves to the one after it; it asks no model.
pub fn handoff_note(tree: &Tree, handoff: &Handoff<'_>) -> String {
    let mut text = String::new();
    part(&mut text, "Why the session ended", handoff.reason);
    part(&mut text, "State of the work", handoff.work);
    part(&mut text, "Todos", &todo_list(handoff.todos));
    let items = tree.context();
    part(&mut text, "What was asked", &asked(tree));
    let said = items.iter().filter_map(|item| match item {
        Item::Model { text } if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    });
    part(&mut text, "What was said last", &last(said.collect(), LAST_MAX));
    part(&mut text, "What was done last", &last(calls(&items), CALLS_MAX));
    text
}

/// Returns the first thing that was asked, which a summary may have hidden.
fn asked(tree: &Tree) -> String {
    let first = tree.path().into_iter().find_map(|at| match &tree.node(at).ok()?.entry {
        Entry::Said { item: Item::User { text } } => Some(text.clone()),
        _ => None,
    });
    first.unwrap_or_default()
}

/// Tells each call with what came of it, in a line.
pub(crate) fn calls(items: &[Item]) -> Vec<String> {
    let failed = |id: &str| {
        items.iter().any(
            |item| matches!(item, Item::Result { call, failed: true, .. } if call.as_str() == id),
        )
    };
    let line = |item: &Item| match item {
        Item::Call { id, name, input, .. } => {
            let how = if failed(id) { " (failed)" } else { "" };
            Some(format!("{name} {}{how}", clip(&input.replace('\n', " "), 200)))
        }
        _ => None,
    };
    items.iter().filter_map(line).collect()
}

pub(crate) fn last(lines: Vec<String>, most: usize) -> String {
    let from = lines.len().saturating_sub(most);
    lines[from..].iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn todo_list(todos: &[Todo]) -> String {
    let line = |todo: &Todo| {
        let mark = match todo.state {
            TodoState::Pending => ' ',
            TodoState::InProgress => '~',
            TodoState::Completed => 'x',
        };
        format!("- [{mark}] {}", todo.text)
    };
    todos.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn part(text: &mut String, title: &str, body: &str) {
    let body = body.trim();
    if body.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("## {title}\n\n{}\n", clip(body, PART_MAX_BYTES)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_learns_what_was_asked_said_done_and_left() {
        let mut tree = Tree::new();
        let call = |id: &str, command: &str| Item::Call {
            id: id.into(),
            name: "shell".into(),
            input: format!("{{\"command\":\"{command}\"}}"),
            own: None,
        };
        let result = |id: &str, failed| Item::Result { call: id.into(), text: "..".into(), failed };
        tree.say(Item::User { text: "Add a login page".into() }).unwrap();
        tree.compact("Looked around.", None).unwrap();
        for item in [
            Item::Model { text: "I make the form.".into() },
            call("1", "ls"),
            call("2", "make"),
            result("1", false),
            result("2", true),
        ] {
            tree.say(item).unwrap();
        }
        let todos = [Todo { text: "style it".into(), state: TodoState::Pending }];
        let handoff = Handoff { reason: "context is full", todos: &todos, work: "1 commit" };
        let note = handoff_note(&tree, &handoff);
        for part in
            ["context is full", "1 commit", "[ ] style it", "Add a login page", "I make the form"]
        {
            assert!(note.contains(part), "{part} is not in\n{note}");
        }
        assert!(note.contains("- shell {\"command\":\"make\"} (failed)"), "{note}");
        let primed = prime(&Prime { task: "Login", handoff: Some(&note), ..Prime::default() });
        assert!(primed.starts_with("## Task\n\nLogin\n") && primed.contains("I make the form"));
        assert!(!primed.contains("## Rules"));
    }
}
