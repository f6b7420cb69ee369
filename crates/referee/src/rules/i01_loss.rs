//! I1, no loss: a task that was accepted is in exactly one place and ends once the queue is dry; one
//! key is one task, however often it was asked for.

use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{AskNo, TaskNo, World};

/// Two answers to one key name the same task.
pub(crate) fn answered(
    world: &World,
    verdict: &mut Verdict,
    (ask, task): (AskNo, TaskNo),
    line: u64,
) {
    let asked = &world[ask];
    verdict.expect(Rule::I1, asked.task.is_none_or(|known| known == task), || {
        let known = asked.task.map_or("", |known| &world[known].id);
        let lines = [asked.line, asked.accepted, line];
        let message = format!("key {} was answered with task {known} before", asked.key);
        Finding::of(&world[task].id, &lines, message)
    });
}

/// A task has one row, and no other task has its key.
pub(crate) fn stored(
    world: &World,
    verdict: &mut Verdict,
    (no, ask): (TaskNo, Option<AskNo>),
    line: u64,
) {
    let task = &world[no];
    if let Some(earlier) = task.stored {
        let message = format!("is in two places, one of them {}", earlier.place.name());
        verdict.note(Rule::I1, Finding::of(&task.id, &[earlier.line, line], message));
    }
    let Some(asked) = ask.map(|ask| &world[ask]) else { return };
    if let Some(other) = asked.task.filter(|other| *other != no) {
        let other = &world[other];
        let lines = [asked.line, asked.accepted, other.stored.map_or(0, |row| row.line), line];
        let message = format!("key {} was asked for once and is task {} too", asked.key, other.id);
        verdict.note(Rule::I1, Finding::of(&task.id, &lines, message));
    }
}

/// What was accepted is there, and has ended if the queue was drained.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict) {
    for asked in world.asked.iter().filter(|asked| asked.accepted > 0) {
        let Some(task) = asked.task.map(|task| &world[task]) else { continue };
        let lines = [asked.line, asked.accepted];
        verdict.expect(Rule::I1, task.stored.is_some(), || {
            let message = format!("key {} was accepted and is nowhere", asked.key);
            Finding::of(&task.id, &lines, message)
        });
    }
    for task in world.tasks.iter().filter(|_| world.drained > 0) {
        let Some(row) = task.stored else { continue };
        verdict.expect(Rule::I1, row.place.is_terminal(), || {
            let message = format!("is still {} although the queue ran dry", row.place.name());
            Finding::of(&task.id, &[world.drained, row.line], message)
        });
    }
}
