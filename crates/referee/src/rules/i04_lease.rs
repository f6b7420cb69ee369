//! I4, one lease: a task has at most one live lease, and in the database's time none begins before
//! the one before it has ended.

use crate::life::Step;
use crate::moment::Moment;
use crate::verdict::{Rule, Verdict};

/// A lease begins when there is none, and only the live one expires.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    let life = &moment.task().life;
    match moment.step {
        Step::Started => {
            verdict.expect(Rule::I4, life.live().is_none(), || {
                moment.finding(format!(
                    "attempt {} started while attempt {} had its lease",
                    moment.attempt(),
                    life.attempt
                ))
            });
            let skew = moment.world.begin.skew;
            let begins = moment.event.at.saturating_add(skew);
            if let Some(free) = life.free_since.filter(|free| begins < *free) {
                let message = format!(
                    "attempt {} started at {}, but the lease before it ended at {free}",
                    moment.attempt(),
                    moment.event.at
                );
                verdict.note(Rule::I4, moment.finding(message));
            }
        }
        Step::Lost => verdict.expect(Rule::I4, life.live() == Some(moment.attempt()), || {
            moment.finding(format!("attempt {} expired without a lease", moment.attempt()))
        }),
        _ => {}
    }
}
