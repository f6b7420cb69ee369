//! I5, the fence: no ack, progress or child of an attempt is accepted when it has lost its lease,
//! least of all after the next attempt was claimed.

use crate::clients::Fenced;
use crate::life::Step;
use crate::moment::Moment;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{Done, Fact, TaskNo, World};

/// A yes to an attempt: nobody had a newer one when it asked, nor when the database did it.
pub(crate) fn answered(
    world: &World,
    verdict: &mut Verdict,
    fenced: Fenced,
    (line, at): (u64, Option<i64>),
) {
    let task = &world[fenced.task];
    let (newest, since) = fenced.newest;
    let (claimed, claim_line, claim_at) = task.newest;
    let later = at.zip(claim_at).is_some_and(|(done, claimed_at)| {
        claimed > fenced.attempt && done > claimed_at.saturating_add(world.begin.skew)
    });
    let stale = newest > fenced.attempt;
    verdict.expect(Rule::I5, !stale && !later, || {
        let (newest, since) = if stale { (newest, since) } else { (claimed, claim_line) };
        let message =
            format!("attempt {} was heard after attempt {newest} had been claimed", fenced.attempt);
        Finding::of(&task.id, &[since, line], message)
    });
}

/// A claim: no older attempt was heard later, by the database's time.
pub(crate) fn handed_out(world: &World, verdict: &mut Verdict, (no, claim): (TaskNo, &Fact)) {
    let task = &world[no];
    let Some(claimed_at) = claim.at else { return };
    let limit = claimed_at.saturating_add(world.begin.skew);
    let late = |fact: &&Fact| {
        matches!(fact.done, Done::Completed | Done::Failed)
            && fact.attempt < claim.attempt
            && fact.at.is_some_and(|at| at > limit)
    };
    if let Some(fact) = task.facts.iter().find(late) {
        let message = format!(
            "the {} of attempt {} was heard after attempt {} had been claimed",
            fact.done.name(),
            fact.attempt,
            claim.attempt
        );
        verdict.note(Rule::I5, Finding::of(&task.id, &[fact.line, claim.line], message));
    }
}

/// What an attempt says is in the log only while it holds the lease.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    let life = &moment.task().life;
    let live = life.live();
    match moment.step {
        Step::Progress | Step::Succeeded | Step::Failed | Step::Released => {
            verdict.expect(Rule::I5, live == Some(moment.attempt()), || {
                let attempt = moment.attempt();
                let message = match live {
                    Some(live) => {
                        format!("{} of attempt {attempt} while {live} runs", moment.event.kind)
                    }
                    None => format!("{} of attempt {attempt} without a lease", moment.event.kind),
                };
                moment.finding(message)
            });
        }
        // It may also die of old age, or because a parent did.
        Step::Dead if live.is_some() && moment.event.attempt.is_some() => {
            verdict.expect(Rule::I5, live == moment.event.attempt, || {
                moment.finding(format!("died of attempt {}, not of the live one", moment.attempt()))
            });
        }
        Step::Queued => spawned(moment, verdict),
        _ => {}
    }
}

/// A child that was asked for by leases only comes while one of them is live.
fn spawned(moment: &Moment<'_>, verdict: &mut Verdict) {
    let world = moment.world;
    let Some(asked) = world.ask_of(moment.no) else { return };
    if asked.freely || asked.holders.is_empty() {
        return;
    }
    let same_log = |no: TaskNo| world.tenant_of(no) == Some(asked.tenant);
    let lives =
        |(no, attempt): &(TaskNo, u32)| !same_log(*no) || world[*no].life.live() == Some(*attempt);
    verdict.expect(Rule::I5, asked.holders.iter().any(lives), || {
        let (holder, attempt) = asked.holders[0];
        let holder = &world[holder];
        let message = format!("was spawned by attempt {attempt} of {} without a lease", holder.id);
        Finding::of(&moment.task().id, &[holder.life.line, asked.line, moment.line], message)
    });
}
