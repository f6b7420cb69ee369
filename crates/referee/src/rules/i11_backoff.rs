//! I11, backoff: a task waits as long as its policy says, is not promoted or started before, and is
//! promoted soon after.

use crate::life::Step;
use crate::moment::Moment;
use crate::record::{Backoff, Place};
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{NameNo, World};

/// A store may keep times in milliseconds.
const ROUNDING_US: i64 = 1_000;

/// The wait after a failure is as asked, and is kept.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    match moment.step {
        Step::Ready | Step::Started => kept(moment, verdict),
        Step::Failed => chosen(moment, verdict),
        _ => {}
    }
}

/// Nothing still waits although its time was long ago when the last thing happened.
pub(crate) fn at_end(world: &World, verdict: &mut Verdict, last: impl Fn(NameNo) -> Option<i64>) {
    let Some(slack) = world.begin.slack else { return };
    for no in world.task_nos() {
        let task = &world[no];
        let delayed = task.life.place == Some(Place::Delayed);
        let Some(due) = task.life.due.filter(|_| delayed) else { continue };
        let now = world.tenant_of(no).and_then(&last);
        let late = now.map_or(0, |now| now.saturating_sub(due.saturating_add(slack)));
        verdict.expect(Rule::I11, late <= 0, || {
            let message = format!("still waits, {late} us later than is allowed");
            Finding::of(&task.id, &[task.life.line], message)
        });
    }
}

/// Neither before its time, unless somebody asked for that, nor long after it.
fn kept(moment: &Moment<'_>, verdict: &mut Verdict) {
    let (life, begin, at) = (&moment.task().life, &moment.world.begin, moment.event.at);
    let Some(due) = life.due else { return };
    let hurried = moment.step == Step::Ready && may_hurry(moment);
    verdict.expect(Rule::I11, hurried || at.saturating_add(begin.skew) >= due, || {
        moment.finding(format!("{} {} us before its time", moment.event.kind, due - at))
    });
    // One that waited for its parents too was late because of them.
    let timed = moment.step == Step::Ready && life.place == Some(Place::Delayed);
    let latest = begin.slack.map(|slack| due.saturating_add(slack));
    if let Some(latest) = latest.filter(|latest| timed && at > *latest) {
        let message = format!("was promoted {} us later than is allowed", at - latest);
        verdict.note(Rule::I11, moment.finding(message));
    }
}

/// Whether somebody asked for a replay that the log has not told of yet.
fn may_hurry(moment: &Moment<'_>) -> bool {
    let (world, task) = (moment.world, moment.task());
    // With a parent, it may have been replayed without being asked for.
    let own = if world.replayed_with_parent(moment.no) { 0 } else { task.life.epoch };
    world.replay_any || task.replays > own + task.life.hurried
}

/// As long as the policy says.
fn chosen(moment: &Moment<'_>, verdict: &mut Verdict) {
    let delay = moment.event.delay_us.unwrap_or_default();
    let asked = moment.world.ask_of(moment.no);
    let Some(backoff) = asked.and_then(|asked| asked.backoff) else { return };
    let failures = moment.attempt().saturating_sub(moment.task().life.uncounted);
    let (least, most) = bounds(backoff, failures);
    verdict.expect(Rule::I11, (least..=most).contains(&delay), || {
        moment.finding(format!(
            "waits {delay} us after failure {failures}; its policy says {least} to {most}"
        ))
    });
}

fn bounds(backoff: Backoff, failures: u32) -> (i64, i64) {
    let doubled = 1_i64.checked_shl(failures.saturating_sub(1)).filter(|factor| *factor > 0);
    let most = backoff.first.saturating_mul(doubled.unwrap_or(i64::MAX)).min(backoff.most);
    let least = most as f64 * (1.0 - backoff.random.clamp(0.0, 1.0));
    ((least as i64).saturating_sub(ROUNDING_US), most.saturating_add(ROUNDING_US))
}
