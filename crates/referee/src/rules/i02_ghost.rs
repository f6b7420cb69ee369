//! I2, no ghost: every stored task was asked for, as it is stored, and so was its end.

use crate::record::Place;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{AskNo, Stored, Task, TaskNo, World};

/// Somebody asked for the task, and for nothing else than what is stored.
///
/// `known` is the key that an answer gave the task, `ask` the one that is stored with it.
pub(crate) fn stored(
    world: &World,
    verdict: &mut Verdict,
    (no, known, ask): (TaskNo, Option<AskNo>, Option<AskNo>),
    tier: u8,
) {
    let task = &world[no];
    let Some(row) = task.stored else { return };
    let asked = ask.or(known).map(|ask| &world[ask]).filter(|asked| asked.asks > 0);
    verdict.expect(Rule::I2, row.by_engine || asked.is_some(), || {
        Finding::of(&task.id, &[row.line], "is stored, but nobody asked for it")
    });
    let Some(asked) = asked else { return };
    let mut differs = |what: &str| {
        let message = format!("is stored with another {what} than was asked for");
        verdict.note(Rule::I2, Finding::of(&task.id, &[asked.line, row.line], message));
    };
    if known.is_some() && ask.is_some() && known != ask {
        differs("key");
    }
    if asked.tenant != row.tenant {
        differs("tenant");
    }
    if asked.pool != row.pool {
        differs("pool");
    }
    // A task may be raised, because others wait for it or it has waited long; never lowered.
    if tier > asked.tier {
        differs("tier");
    }
    if row.max_attempts.is_some_and(|most| most != asked.max_attempts) {
        differs("number of attempts");
    }
}

/// Nobody's success and nobody's cancellation do not exist.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict) {
    for task in &world.tasks {
        let Some(row) = task.stored.filter(|row| !row.by_engine) else { continue };
        match row.place {
            Place::Done if !world.begin.unseen_workers => {
                verdict.expect(Rule::I2, task.completes > 0, || {
                    Finding::of(&task.id, &[row.line], "is done, but no worker said so")
                });
            }
            Place::Cancelled => {
                verdict.expect(Rule::I2, task.cancels > 0 || follows_parent(world, task), || {
                    Finding::of(&task.id, &[row.line], "is cancelled, but nobody asked for it")
                });
            }
            _ => {}
        }
    }
}

/// Whether a parent has ended badly, or did so before it was replayed.
fn follows_parent(world: &World, task: &Task) -> bool {
    let bad = |row: Stored| matches!(row.place, Place::Dead | Place::Cancelled);
    let mut parents = task.parents.iter().map(|parent| &world[*parent]);
    parents.any(|parent| parent.life.epoch > 0 || parent.stored.is_some_and(bad))
}
