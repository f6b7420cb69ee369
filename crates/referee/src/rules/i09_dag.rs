//! I9, the graph: a child is promoted once and runs only after all its parents succeeded, and the
//! bad end of a parent reaches all its descendants.

use crate::life::Step;
use crate::moment::Moment;
use crate::record::Place;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{Fact, TaskNo, World};

/// Takes the parents that were asked for, and compares them with those that are stored.
pub(crate) fn join(world: &mut World, verdict: &mut Verdict) {
    for no in world.task_nos() {
        let task = &world[no];
        let Some(asked) = task.asked.map(|ask| &world[ask]).filter(|asked| asked.asks > 0) else {
            continue;
        };
        let parents = asked.parents.iter().filter_map(|parent| world[*parent].task);
        let mut parents: Vec<TaskNo> = parents.collect();
        parents.sort_unstable();
        parents.dedup();
        let mut stored = task.parents.to_vec();
        stored.sort_unstable();
        stored.dedup();
        if let Some(row) = task.stored.filter(|_| parents != stored) {
            let message =
                format!("has {} parents; it was asked for {}", stored.len(), parents.len());
            let lines = [asked.line, row.line];
            verdict.note(Rule::I9, Finding::of(&task.id, &lines, message));
        }
        if !parents.is_empty() {
            world[no].parents = parents.into();
        }
    }
    for no in world.task_nos() {
        for parent in world[no].parents.clone() {
            world.children.entry(parent).or_default().push(no);
        }
    }
}

/// A child that is handed out has parents that somebody said to have succeeded.
pub(crate) fn handed_out(world: &World, verdict: &mut Verdict, (no, claim): (TaskNo, &Fact)) {
    let Some(asked) = world.ask_of(no).filter(|_| !world.begin.unseen_workers) else { return };
    for parent in &asked.parents {
        let above = &world[*parent];
        // What the server does itself, a timer or a gate, no worker tells of.
        let seen = above.task.filter(|_| !world.is_engine_key(&above.key));
        let Some(parent) = seen.map(|parent| &world[parent]) else { continue };
        verdict.expect(Rule::I9, parent.completes > 0, || {
            let message = format!("was handed out before its parent {} was done", parent.id);
            Finding::of(&world[no].id, &[asked.line, claim.line], message)
        });
    }
}

/// A child is promoted and started only when it waits for nobody.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    let (world, task) = (moment.world, moment.task());
    if moment.step == Step::Replayed {
        reached(moment, verdict);
    }
    if task.parents.is_empty()
        || !matches!(moment.step, Step::Delayed | Step::Ready | Step::Started)
    {
        return;
    }
    let awaited = world.awaited(moment.no).map(|parent| &world[parent]);
    verdict.expect(Rule::I9, awaited.is_none(), || {
        let (parent, line) = awaited.map_or(("", 0), |parent| (&parent.id, parent.life.line));
        let message = format!("{} before its parent {parent} was done", moment.event.kind);
        Finding::of(&task.id, &[line, moment.line], message)
    });
    let waited = matches!(task.life.place, Some(Place::Delayed | Place::Blocked));
    let place = task.life.place.map_or("not there", Place::name);
    if moment.step == Step::Ready && !waited && !task.life.fresh {
        verdict.note(Rule::I9, moment.finding(format!("was promoted when it was {place}")));
    }
    if moment.step == Step::Started && waited && awaited.is_none() {
        verdict.note(Rule::I9, moment.finding("started without being promoted"));
    }
}

/// A task that is replayed was dead, so no child of it is left, unless it was replayed before it.
fn reached(moment: &Moment<'_>, verdict: &mut Verdict) {
    let children = moment.world.children.get(&moment.no).into_iter().flatten();
    for child in children.map(|child| &moment.world[*child]) {
        let life = &child.life;
        let replayed = life.fresh && life.epoch > 0;
        verdict.expect(Rule::I9, life.place.is_none() || life.is_over() || replayed, || {
            let message = format!("went on while its parent {} was dead", moment.task().id);
            Finding::of(&child.id, &[life.line, moment.task().life.line, moment.line], message)
        });
    }
}

/// No child outlives a parent that ended badly, and none waits for parents that are all done.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict) {
    for no in world.task_nos() {
        let task = &world[no];
        let Some(row) = task.stored.filter(|_| !task.parents.is_empty()) else { continue };
        for parent in &task.parents {
            let parent = &world[*parent];
            let Some(above) = parent.stored else { continue };
            let bad = matches!(above.place, Place::Dead | Place::Cancelled);
            // Somebody may have replayed the child alone, which then waits for its parent again.
            let replayed = task.life.fresh && task.life.epoch > 0;
            let shares = replayed || matches!(row.place, Place::Dead | Place::Cancelled);
            verdict.expect(Rule::I9, shares || !bad, || {
                let (is, was) = (row.place.name(), above.place.name());
                let message = format!("is {is} although its parent {} is {was}", parent.id);
                Finding::of(&task.id, &[parent.life.line, above.line, row.line], message)
            });
        }
        let stuck = row.place == Place::Blocked && world.awaited(no).is_none();
        if stuck && task.life.due.is_none() {
            let message = "is blocked although all its parents are done";
            verdict.note(Rule::I9, Finding::of(&task.id, &[task.life.line, row.line], message));
        }
    }
}
