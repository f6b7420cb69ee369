//! Finding a task by what a person typed.

use godel_api::{Client, Task};
use godel_model::{Invalid, TaskId, code};
use uuid::Uuid;

use super::super::lookup;
use super::PATH;
use crate::error::{Error, Result};

/// Among how many of the newest tasks a part of an id is looked for.
const NEWEST: usize = 1_000;
/// How many letters of an id are enough.
const PART_MIN_CHARS: usize = 4;
/// How many tasks are named when a part is not enough.
const NAMED_MAX: usize = 10;

/// Finds the id of a task by the id, its beginning or its end.
pub(super) async fn id(client: &Client, given: &str) -> Result<Uuid> {
    if let Ok(id) = given.parse::<TaskId>() {
        return Ok(id.uuid());
    }
    Ok(find(client, given).await?.id)
}

/// Finds a task by its id, the beginning or the end of it.
pub(in crate::commands) async fn find(client: &Client, given: &str) -> Result<Task> {
    if let Ok(id) = given.parse::<TaskId>() {
        return Ok(super::detail(client, id.uuid()).await?.task);
    }
    check_part(given)?;
    let (newest, _) = lookup::first::<Task>(client, PATH, None, NEWEST).await?;
    pick(newest, given)
}

fn check_part(given: &str) -> Result<()> {
    let letters = given.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if letters && given.len() >= PART_MIN_CHARS {
        return Ok(());
    }
    let message = format!("\"{}\" is not the id of a task", given.escape_debug());
    Err(Error::usage(message, "`godel task list` shows ids; their last eight letters are enough"))
}

/// Picks the one task that is meant.
fn pick(tasks: Vec<Task>, given: &str) -> Result<Task> {
    let given = given.to_ascii_lowercase();
    let is_meant = |task: &Task| {
        let id = task.id.to_string();
        id.starts_with(&given) || id.ends_with(&given)
    };
    let mut meant: Vec<Task> = tasks.into_iter().filter(is_meant).collect();
    if meant.len() > 1 {
        let line = |task: &Task| format!("{}  {}  {}", task.id, task.state, task.title);
        let lines: Vec<String> = meant.iter().take(NAMED_MAX).map(line).collect();
        return Err(Error::usage(
            format!("\"{given}\" stands for {} tasks", meant.len()),
            format!("name one of them by its whole id:\n{}", lines.join("\n")),
        ));
    }
    meant.pop().ok_or_else(|| {
        let message = format!("no task of the newest {NEWEST} begins or ends with \"{given}\"");
        Invalid::new(code::TASK_NOT_FOUND, message)
            .with_hint("an older one is found by its whole id; `godel task list` shows ids")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;
    use serde_json::json;

    use super::*;

    fn task(id: &str) -> Task {
        serde_json::from_value(json!({
            "id": id, "title": "t", "payload": {}, "state": "ready", "pool": "default",
            "priority": "low", "askedPriority": "low", "requires": [], "attempt": 0,
            "retry": {}, "after": [], "waitsFor": 0, "createdAt": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn a_part_must_stand_for_one_task() {
        let (one, two) =
            ("019a87f2-0000-7000-8000-0000aaaa0001", "019a87f2-0000-7000-8000-0000bbbb0002");
        let tasks = || vec![task(one), task(two)];
        assert_eq!(pick(tasks(), "AAAA0001").unwrap().id.to_string(), one);
        let error = pick(tasks(), "019a87f2").unwrap_err();
        assert_eq!(error.code(), code::INVALID_REQUEST);
        assert!(error.hint().unwrap().contains(two));
        assert_eq!(pick(tasks(), "0003").unwrap_err().code(), code::TASK_NOT_FOUND);
        for bad in ["", "abc", "build", "019a 7f2", "../../x"] {
            assert!(check_part(bad).is_err(), "{bad}");
        }
        assert!(check_part("0002").is_ok());
    }
}
