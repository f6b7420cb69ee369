//! What an agent that is asked for may be like.

use godel_model::code;
use uuid::Uuid;

use super::NewAgent;
use crate::{Error, Result};

/// The longest task, in characters.
pub(crate) const TASK_MAX_CHARS: usize = 20_000;
const LABEL_MAX_CHARS: usize = 100;
const HOSTS_MAX: usize = 100;
/// The longest time that an agent may be given, in seconds.
const TIMEOUT_MAX: u64 = 30 * 24 * 60 * 60;

/// Sees whether what is asked for makes sense.
pub(crate) fn check(new: &NewAgent) -> Result<()> {
    let refuse = |field: &'static str, why: &str, hint: &str| {
        Err(Error::refused(code::INVALID_FIELD, why, hint).at(field))
    };
    if new.task.is_none() && new.bead.is_none() {
        return refuse(
            "task",
            "an agent needs something to do",
            "say it in words (`task`), or name a bead (`bead`)",
        );
    }
    if new
        .task
        .as_ref()
        .is_some_and(|task| task.trim().is_empty() || task.chars().count() > TASK_MAX_CHARS)
    {
        let hint = "put the rest into a file or a bead";
        return refuse("task", "a task has 1 to 20,000 characters", hint);
    }
    let plain = |text: &str| {
        !text.is_empty()
            && text.chars().count() <= LABEL_MAX_CHARS
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    if new.label.as_deref().is_some_and(|label| !plain(label) || Uuid::try_parse(label).is_ok()) {
        return refuse(
            "label",
            "the name of an agent has 1 to 100 letters, digits, dots, dashes and underscores",
            "leave it out, and the agent is called by its role and a number",
        );
    }
    if new.allow.len() > HOSTS_MAX {
        let hint = "allow a whole domain: *.example.com";
        return refuse("allow", "at most 100 hosts can be allowed", hint);
    }
    if new.timeout.is_some_and(|secs| secs == 0 || secs > TIMEOUT_MAX) {
        let hint = "leave `timeoutSeconds` out";
        return refuse("timeoutSeconds", "an agent ends after 1 second to 30 days", hint);
    }
    if let Some(cap) = new.budget {
        let checked = godel_model::Allowance::of(cap).check();
        checked.map_err(|invalid| invalid.with_field("budgetMicros"))?;
    }
    Ok(())
}
