//! I11, backoff: a task waits as long as its policy says, is not promoted or started before, and is
//! promoted soon after.

use crate::life::Step;
use crate::moment::Moment;
use crate::record::{Backoff, Place};
use crate::verdict::{Rule, Verdict};

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

/// Neither before its time nor long after it.
fn kept(moment: &Moment<'_>, verdict: &mut Verdict) {
    let (life, begin, at) = (&moment.task().life, &moment.world.begin, moment.event.at);
    let Some(due) = life.due else { return };
    verdict.expect(Rule::I11, at.saturating_add(begin.skew) >= due, || {
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

/// As long as the policy says.
fn chosen(moment: &Moment<'_>, verdict: &mut Verdict) {
    let delay = moment.event.delay_us.unwrap_or_default();
    let asked = moment.world.ask_of(moment.no);
    let Some(backoff) = asked.and_then(|asked| asked.backoff) else { return };
    let failures = moment.attempt().saturating_sub(moment.task().life.earlier);
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
