//! The last attempt before a person is asked: somebody who first finds out why all others failed.

use crate::doc::Agent;

/// How every attempt after the first is told of.
const ANEW: &str = "begins anew";
/// The most reasons that are told.
const REASONS_MAX: usize = 12;

/// Says how an agent begins anew.
pub(super) fn words(agent: &Agent, (model, debugs): (&str, bool), why: &str) -> String {
    let with = if agent.model == model { String::new() } else { format!(" with {model}") };
    let to = if debugs { " to find the cause" } else { "" };
    format!("{ANEW}{with}{to}: {why}")
}

/// Writes the note for whoever has to find the cause.
pub(super) fn brief(agent: &Agent, note: &str) -> String {
    let told = agent.history.iter().filter(|step| step.why.starts_with(ANEW));
    let mut reasons: Vec<String> = told.map(|step| format!("- {}", step.why)).collect();
    reasons.drain(..reasons.len().saturating_sub(REASONS_MAX));
    format!(
        "Every session before you failed at this task, and you are the last before a person is asked. Do not try \
         the same once more. First find the cause: read what the others did and where it went wrong, reproduce the \
         failure with the smallest command that shows it, say in one sentence what the cause is, and only then mend \
         it. If the task cannot be done as it is written, ask and say why.\n\nHow the others ended:\n{}\n\n{note}",
        reasons.join("\n")
    )
}
