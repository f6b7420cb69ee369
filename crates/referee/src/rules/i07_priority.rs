//! I7, priority: a claim leaves nothing of a higher tier behind in its pool; within a tier and a
//! tenant, nothing older.

use std::collections::HashMap;

use crate::record::{Answer, Claim};
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{NameNo, TaskNo, World};

type Row = (u8, i64, String);

/// Looks at a claim that tells what it could have taken.
pub(crate) fn snapshot(world: &World, verdict: &mut Verdict, answer: &Answer, line: u64) {
    let Some(rows) = &answer.ready_before else { return };
    verdict.look(Rule::I7);
    let taken = |row: &Row| answer.claims.iter().any(|claim| claim.task == row.2);
    for claim in &answer.claims {
        if !rows.iter().any(|row| row.2 == claim.task) {
            let message = "was handed out although it was not ready";
            verdict.note(Rule::I7, Finding::of(&claim.task, &[line], message));
        }
    }
    let lowest = rows.iter().filter(|row| taken(row)).max_by_key(|row| row.0);
    let highest = rows.iter().filter(|row| !taken(row)).min_by_key(|row| row.0);
    if let Some((left, lowest)) = highest.zip(lowest).filter(|(left, low)| left.0 < low.0) {
        let message = format!(
            "was left behind in tier {}, while {} was taken from tier {}",
            left.0, lowest.2, lowest.0
        );
        verdict.note(Rule::I7, Finding::of(&left.2, &[line], message));
    }
    if !world.begin.any_order_in_tier {
        let (took, left): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| taken(row));
        first_come(world, verdict, (&took, &left), line);
    }
}

/// Within a tier and a tenant, those that were ready first are taken first.
fn first_come(world: &World, verdict: &mut Verdict, (took, left): (&[&Row], &[&Row]), line: u64) {
    let group = |row: &Row| (row.0, world.find_task(&row.2).and_then(|no| world.tenant_of(no)));
    let mut newest: HashMap<_, &Row> = HashMap::new();
    for row in took {
        let known = newest.entry(group(row)).or_insert(row);
        if order(row) > order(known) {
            *known = row;
        }
    }
    for row in left {
        let Some(later) = newest.get(&group(row)).filter(|later| order(later) > order(row)) else {
            continue;
        };
        let message = format!("was ready before {} of its tier and was left behind", later.2);
        verdict.note(Rule::I7, Finding::of(&row.2, &[line], message));
    }
}

/// By time, then by id; numbers that are written without zeros are in their order too.
fn order(row: &Row) -> (i64, usize, &str) {
    (row.1, row.2.len(), &row.2)
}

/// The drain of a backlog to which nothing is added.
///
/// Of two claims, one answered before the other was asked for, the first cannot have taken a lower
/// tier than the second, if all that the second took was ready all the time.
#[derive(Debug, Default)]
pub(crate) struct Drains {
    all: Option<u64>,
    pools: HashMap<NameNo, Drain>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Drain {
    quiet_since: Option<u64>,
    lowest: Option<Lowest>,
}

#[derive(Debug, Clone, Copy)]
struct Lowest {
    tier: u8,
    task: TaskNo,
    line: u64,
}

/// What was known of a pool when a claim was asked for.
#[derive(Debug)]
pub(crate) struct Before {
    pool: NameNo,
    lowest: Option<Lowest>,
}

impl Drains {
    pub(crate) fn quiesce(&mut self, pool: Option<NameNo>, line: u64) {
        match pool {
            Some(pool) => {
                self.pools.insert(pool, Drain { quiet_since: Some(line), lowest: None });
            }
            None => {
                self.pools.clear();
                self.all = Some(line);
            }
        }
    }

    pub(crate) fn before(&self, pool: NameNo) -> Before {
        Before { pool, lowest: self.pools.get(&pool).and_then(|drain| drain.lowest) }
    }

    /// Looks at the answer to a claim, and remembers what it took.
    pub(crate) fn after(
        &mut self,
        world: &World,
        verdict: &mut Verdict,
        (before, answer): (&Before, &Answer),
        line: u64,
    ) {
        let all = self.all;
        let drain = self.pools.entry(before.pool).or_default();
        let Some(quiet_since) = drain.quiet_since.or(all) else { return };
        for claim in &answer.claims {
            let Some((task, tier)) = of_backlog(world, claim, quiet_since) else { continue };
            let overtaken = before.lowest.filter(|lowest| lowest.tier > tier);
            verdict.expect(Rule::I7, overtaken.is_none(), || {
                let (by, low, since) =
                    overtaken.map_or(("", 0, 0), |low| (&*world[low.task].id, low.tier, low.line));
                let message = format!("of tier {tier} was taken after {by} of tier {low}");
                Finding::of(&claim.task, &[since, line], message)
            });
            if drain.lowest.is_none_or(|lowest| tier > lowest.tier) {
                drain.lowest = Some(Lowest { tier, task, line });
            }
        }
    }
}

/// The tier of a task that was ready from the moment of quiet until this claim.
fn of_backlog(world: &World, claim: &Claim, quiet_since: u64) -> Option<(TaskNo, u8)> {
    let task = world.find_task(&claim.task)?;
    let asked = world.ask_of(task)?;
    let ready = (1..quiet_since).contains(&asked.accepted)
        && asked.parents.is_empty()
        && asked.delay.is_none_or(|delay| delay <= 0)
        && asked.start_at.is_none()
        && claim.attempt == 1;
    ready.then(|| (task, claim.tier.unwrap_or(asked.tier)))
}
