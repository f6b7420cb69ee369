//! I12, the durability line: everything that was answered is there, after a power cut too, and is as
//! it was answered.

use crate::life::{Life, Step};
use crate::moment::Moment;
use crate::record::Event;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{Done, Fact, Task, TaskNo, World};

/// How far the time in an answer may be from that of its event, if both are read for themselves.
const APART_US: u64 = 1_000_000;

/// An answer and its event tell of the same time and the same wait.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    let task = moment.task();
    let matching = |fact: &&Fact| is_told(fact, &task.life, moment.step, moment.event);
    let limit = APART_US.saturating_add(moment.world.begin.skew.unsigned_abs());
    for fact in task.facts.iter().filter(matching) {
        verdict.look(Rule::I12);
        // The others may be answered again long after they were done.
        let at = fact.at.filter(|_| matches!(fact.done, Done::Claimed | Done::Expired));
        let apart = at.is_some_and(|at| at.abs_diff(moment.event.at) > limit);
        // A dead task waits for nothing.
        let delay = fact.delay.filter(|_| moment.step == Step::Failed);
        let waits = delay.is_some_and(|delay| Some(delay) != moment.event.delay_us);
        if apart || waits {
            let message = format!(
                "the {} was answered with another time or wait than the log tells",
                fact.done.name()
            );
            verdict.note(Rule::I12, Finding::of(&task.id, &[fact.line, moment.line], message));
        }
    }
}

/// Forgets the answers that an event tells of; several replays are told one by one.
pub(crate) fn forget(world: &mut World, no: TaskNo, step: Step, event: &Event) {
    let Task { facts, life, .. } = &mut world[no];
    let replayed = |fact: &Fact| fact.done == Done::Replayed;
    let first = facts.iter().position(|fact| replayed(fact) && is_told(fact, life, step, event));
    if let Some(first) = first {
        facts.remove(first);
    }
    facts.retain(|fact| replayed(fact) || !is_told(fact, life, step, event));
}

/// No answer is left without an event, and no accepted task without a row.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict) {
    let cut = |line: u64| if line < world.cut { " before the cut" } else { "" };
    for task in &world.tasks {
        for fact in &task.facts {
            let of = match fact.attempt {
                0 => String::new(),
                attempt => format!(" of attempt {attempt}"),
            };
            let (name, cut) = (fact.done.name(), cut(fact.line));
            let message = format!("its {name}{of} was answered{cut} and is not in the log");
            verdict.expect(Rule::I12, false, || Finding::of(&task.id, &[fact.line], message));
        }
    }
    for asked in world.asked.iter().filter(|asked| asked.accepted > 0) {
        let Some(task) = asked.task.map(|task| &world[task]) else { continue };
        verdict.expect(Rule::I12, task.stored.is_some() && task.life.place.is_some(), || {
            let cut = cut(asked.accepted);
            let message = format!("was accepted{cut} and is not in both the tables and the log");
            Finding::of(&task.id, &[asked.accepted, world.cut], message)
        });
    }
}

/// Whether an event tells of an answer; `life` is what was known before it.
fn is_told(fact: &Fact, life: &Life, step: Step, event: &Event) -> bool {
    let same = fact.attempt == event.attempt.unwrap_or_default();
    match fact.done {
        Done::Claimed => step == Step::Started && same,
        Done::Completed => step == Step::Succeeded && same,
        // One that was asked to stop is cancelled when its attempt ends.
        Done::Failed => matches!(step, Step::Failed | Step::Dead | Step::Cancelled) && same,
        Done::Released => matches!(step, Step::Released | Step::Cancelled) && same,
        // The last attempt of a task may be told by its death alone.
        Done::Expired => matches!(step, Step::Lost | Step::Dead | Step::Cancelled) && same,
        Done::Cancelled => step == Step::Cancelled,
        Done::Replayed => {
            // A delayed task is promoted instead.
            let hurried = life.is_early(event.at) || fact.at == Some(event.at);
            step == Step::Replayed || (step == Step::Ready && hurried)
        }
        Done::Progressed => false,
    }
}
