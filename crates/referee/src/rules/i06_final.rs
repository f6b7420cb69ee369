//! I6, ends are final: nothing happens to a task that has ended, except that one that did not succeed
//! is replayed, which was asked for and has an event of its own.

use crate::life::Step;
use crate::moment::Moment;
use crate::record::Place;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{Done, Fact, TaskNo, World};

/// A claim that was asked for (at `since`) after the task had ended does not get it.
pub(crate) fn handed_out(
    world: &World,
    verdict: &mut Verdict,
    (no, claim): (TaskNo, &Fact),
    since: u64,
) {
    let task = &world[no];
    // A cancelled one may have been replayed, by itself or with what it waits for.
    let waits = world.ask_of(no).is_none_or(|asked| !asked.parents.is_empty());
    let may_return = world.replay_any || task.replays > 0 || waits;
    let over = |fact: &&Fact| match fact.done {
        Done::Completed => fact.line < since,
        Done::Cancelled => fact.line < since && !may_return,
        _ => false,
    };
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
        Step::Replayed => matches!(life.place, Some(Place::Dead | Place::Cancelled)),
        _ => !life.is_over(),
    };
    verdict.expect(Rule::I6, holds, || {
        moment.finding(format!("{} when it was {place}", moment.event.kind))
    });
}

/// Nothing was replayed more often than asked, but for what was replayed with its parent.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict) {
    for no in world.task_nos().filter(|no| !world.replayed_with_parent(*no)) {
        let task = &world[no];
        if world.replay_any || task.life.epoch <= task.replays {
            continue;
        }
        let (epoch, asked) = (task.life.epoch, task.replays);
        let message = format!("was replayed {epoch} times, but this was asked {asked} times");
        verdict.note(Rule::I6, Finding::of(&task.id, &[task.life.line], message));
    }
}
