//! Finding a task by what a person typed.

use godel_api::{Client, Task};
use godel_console::lookup::{self, Part};
use godel_console::{Error, Result};
use godel_model::{TaskId, code};
use uuid::Uuid;

use super::PATH;

/// Among how many of the newest tasks a part of an id is looked for.
const NEWEST: usize = 1_000;
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

fn part(given: &str) -> Part<'_> {
    let hint = "an older one is found by its whole id; `godel task list` shows ids";
    Part { given, kind: "task", missing: (code::TASK_NOT_FOUND, hint) }
}

fn check_part(given: &str) -> Result<()> {
    if part(given).is_of_an_id() {
        return Ok(());
    }
    let message = format!("\"{}\" is not the id of a task", given.escape_debug());
    Err(Error::usage(message, "`godel task list` shows ids; their last eight letters are enough"))
}

/// Picks the one task that is meant.
fn pick(tasks: Vec<Task>, given: &str) -> Result<Task> {
    part(given).pick(tasks, |task| (task.id, format!("{}  {}", task.state, task.title)), |_| false)
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
