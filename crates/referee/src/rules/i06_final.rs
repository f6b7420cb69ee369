//! I6, ends are final: nothing happens to a task that has ended, except that a dead one is replayed,
//! which was asked for and has an event of its own.

use crate::life::Step;
use crate::moment::Moment;
use crate::record::Place;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{Done, Fact, Task, World};

/// A claim that was asked for (at `since`) after the task had ended does not get it.
pub(crate) fn handed_out(task: &Task, verdict: &mut Verdict, (claim, since): (&Fact, u64)) {
    let over =
        |fact: &&Fact| matches!(fact.done, Done::Completed | Done::Cancelled) && fact.line < since;
    let end = task.facts.iter().find(over);
    verdict.expect(Rule::I6, end.is_none(), || {
        let (line, name) = end.map_or((0, ""), |fact| (fact.line, fact.done.name()));
        let message = format!("attempt {} was handed out after its {name}", claim.attempt);
        Finding::of(&task.id, &[line, since, claim.line], message)
    });
}

/// The log does not go on after an end.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    let life = &moment.task().life;
    let place = life.place.map_or("not there", Place::name);
    let holds = match moment.step {
        // That it is queued twice is told by I8.
        Step::Queued => return,
        Step::Replayed => life.place == Some(Place::Dead),
        _ => !life.is_over(),
    };
    verdict.expect(Rule::I6, holds, || {
        moment.finding(format!("{} when it was {place}", moment.event.kind))
    });
}

/// Nothing was replayed more often than asked.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict) {
    let unasked = |task: &&Task| task.life.epoch > task.replays && !world.replay_any;
    for task in world.tasks.iter().filter(unasked) {
        let (epoch, asked) = (task.life.epoch, task.replays);
        let message = format!("was replayed {epoch} times, but this was asked {asked} times");
        verdict.note(Rule::I6, Finding::of(&task.id, &[task.life.line], message));
    }
}
