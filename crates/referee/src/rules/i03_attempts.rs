//! I3, attempts: those of a task are 1, 2, 3 and so on over its whole life, each started once, and
//! in each epoch at most `max_attempts` of them; one that was released does not count.

use crate::life::Step;
use crate::moment::Moment;
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{Done, Fact, Task};

/// No attempt is given to two claims.
pub(crate) fn handed_out(task: &Task, verdict: &mut Verdict, claim: &Fact) {
    let same = |fact: &&Fact| fact.done == Done::Claimed && fact.attempt == claim.attempt;
    let earlier = task.facts.iter().find(same);
    verdict.expect(Rule::I3, earlier.is_none(), || {
        let lines = [earlier.map_or(0, |fact| fact.line), claim.line];
        Finding::of(&task.id, &lines, format!("attempt {} was handed out twice", claim.attempt))
    });
}

/// An attempt that starts is the next one, and is allowed.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    if moment.step != Step::Started {
        return;
    }
    let (task, attempt) = (moment.task(), moment.attempt());
    let last = task.life.attempt;
    verdict.expect(Rule::I3, attempt == last.saturating_add(1), || {
        moment.finding(match attempt > last {
            true => format!("attempt {attempt} started after attempt {last}"),
            false => format!("attempt {attempt} started again; {last} had started already"),
        })
    });
    let asked = moment.world.ask_of(moment.no).filter(|asked| asked.asks > 0);
    let most = asked.map(|asked| asked.max_attempts);
    let most = most.or_else(|| task.stored.and_then(|row| row.max_attempts));
    let used = attempt.saturating_sub(task.life.uncounted);
    if let Some(most) = most.filter(|most| used > *most) {
        let message = format!("attempt {used} of {most} started");
        verdict.note(Rule::I3, moment.finding(message));
    }
}
