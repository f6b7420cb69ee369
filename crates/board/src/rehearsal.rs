//! Rehearsals: what a budget would have done, had it been there.

use std::collections::BTreeMap;

use godel_app::{App, Call};
use godel_books::reports::{self, Narrow};
use godel_model::{Allowance, BudgetScope, CallId, Invalid, Period, Reach, code};
use godel_store::CallRecord;
use jiff::{SignedDuration, Timestamp};
use tracing::instrument;

use crate::Result;

/// How many days a rehearsal can look back.
pub const DAYS_MAX: u32 = 31;
/// How many requests it looks at.
const CALLS_MAX: usize = 200_000;
const PAGE: usize = 2_000;
/// How many pages it looks at, however few requests of them are meant.
const LOOKS_MAX: usize = 200;
/// How much earlier than its attempt an id may have been made.
const SLACK_SECS: i64 = 60;
/// How many agents are named for each stop.
const AGENTS_MAX: usize = 50;

/// What is tried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Whose spending.
    pub scope: BudgetScope,
    /// For how long it counts.
    pub period: Period,
    /// The limit, in millionths of a dollar.
    pub cap: i64,
    /// How many days are looked at.
    pub past_days: u32,
}

/// What would have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsal {
    /// From when on requests were looked at.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// How many requests there were.
    pub calls: u64,
    /// What was spent.
    pub spent: i64,
    /// Each period in which the limit would have been reached, the oldest first.
    pub stops: Vec<Stop>,
    /// Whether all requests of the time were looked at.
    pub whole: bool,
}

/// One period in which the limit would have been reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// When the first request would have been refused.
    pub at: Timestamp,
    /// How many requests would have been refused.
    pub calls: u64,
    /// What they cost in truth.
    pub cost: i64,
    /// How many agents would have been stopped.
    pub agents_count: usize,
    /// The first of them, in the order in which they would have been stopped.
    pub agents: Vec<String>,
}

/// One request, as a budget sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spent {
    at: Timestamp,
    cost: i64,
    agent: Option<String>,
}

/// Works out which requests of the past a budget would have refused.
///
/// # Errors
/// If the caller may not see what was spent, or the limit makes no sense.
#[instrument(level = "debug", name = "board.rehearsal.rehearse", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn rehearse(app: &App, call: &Call, trial: Trial) -> Result<Rehearsal> {
    call.may("cost", "read", Reach::Team)?;
    Allowance::of(trial.cap).check().map_err(godel_app::Error::from)?;
    if !(1..=DAYS_MAX).contains(&trial.past_days) {
        let why = format!("pastDays must be 1 to {DAYS_MAX}");
        return Err(Invalid::new(code::INVALID_FIELD, why).into());
    }
    let to = app.clock.now();
    let days = SignedDuration::from_hours(24 * i64::from(trial.past_days));
    let from = to.checked_sub(days).unwrap_or(Timestamp::UNIX_EPOCH);
    // A day or month that had begun before counts from its beginning.
    let first = if trial.period == Period::Total { from } else { trial.period.starts(from) };
    let (mut spent, whole) = collect(app, call, &trial.scope, first).await?;
    spent.reverse();
    let stops = stops(&spent, trial.period, trial.cap);
    let within = || spent.iter().filter(|one| one.at >= from);
    Ok(Rehearsal {
        from,
        to,
        calls: within().count() as u64,
        spent: within().map(|one| one.cost).sum(),
        stops: stops.into_iter().filter(|stop| stop.at >= from).collect(),
        whole,
    })
}

/// Reads what a scope spent since a time, the newest first; also whether that is all of it.
async fn collect(
    app: &App,
    call: &Call,
    scope: &BudgetScope,
    since: Timestamp,
) -> Result<(Vec<Spent>, bool)> {
    let (mut found, mut before, mut looks) = (Vec::new(), None, 0);
    loop {
        let (page, next) = reports::calls(app, call, before, PAGE, narrow(scope)).await?;
        for record in page {
            if record.start.at < since {
                return Ok((found, true));
            }
            if record.start.purpose.scopes().contains(scope) {
                found.extend(spent(record));
            }
        }
        // A page may be empty though there are more: then only the cursor tells how far it is.
        let Some(next) = next.filter(|next| !is_long_before(*next, since)) else {
            return Ok((found, true));
        };
        looks += 1;
        if found.len() >= CALLS_MAX || looks >= LOOKS_MAX {
            return Ok((found, false));
        }
        before = Some(next);
    }
}

/// Tells whether an attempt began before a time; an id is made at most a moment before its attempt.
fn is_long_before(id: CallId, since: Timestamp) -> bool {
    let made = id.uuid().get_timestamp().map(|made| made.to_unix().0);
    let made = made.and_then(|seconds| i64::try_from(seconds).ok());
    made.is_some_and(|seconds| seconds + SLACK_SECS < since.as_second())
}

/// Lets the ledger leave out most of what is not meant.
fn narrow(scope: &BudgetScope) -> Narrow {
    let mut narrow = Narrow::default();
    match scope {
        BudgetScope::Tenant | BudgetScope::Token(_) => {}
        BudgetScope::Project(id) => narrow.project = Some(id.to_string()),
        BudgetScope::User(id) => narrow.user = Some(id.to_string()),
        BudgetScope::Agent(name) => narrow.agent = Some(name.clone()),
        BudgetScope::Bead(id) => narrow.bead = Some(id.clone()),
        BudgetScope::Convoy(id) => narrow.convoy = Some(id.clone()),
    }
    narrow
}

/// Returns what a request cost; none while it is under way.
fn spent(record: CallRecord) -> Option<Spent> {
    let cost = record.end?.cost.unwrap_or_default();
    Some(Spent { at: record.start.at, cost, agent: record.start.purpose.agent.clone() })
}

/// Goes through requests in their order and refuses those that begin when the limit is reached.
fn stops(spent: &[Spent], period: Period, cap: i64) -> Vec<Stop> {
    let mut sums: BTreeMap<Timestamp, i64> = BTreeMap::new();
    let mut stops: BTreeMap<Timestamp, Stop> = BTreeMap::new();
    for one in spent {
        let sum = sums.entry(period.starts(one.at)).or_default();
        if *sum < cap {
            *sum = sum.saturating_add(one.cost);
            continue;
        }
        let stop = stops.entry(period.starts(one.at)).or_insert_with(|| Stop {
            at: one.at,
            calls: 0,
            cost: 0,
            agents_count: 0,
            agents: Vec::new(),
        });
        stop.calls += 1;
        stop.cost = stop.cost.saturating_add(one.cost);
        if let Some(agent) = one.agent.as_ref().filter(|agent| !stop.agents.contains(agent)) {
            stop.agents.push(agent.clone());
        }
    }
    let told = |mut stop: Stop| {
        stop.agents_count = stop.agents.len();
        stop.agents.truncate(AGENTS_MAX);
        stop
    };
    stops.into_values().map(told).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn request(hour: i64, cost: i64, agent: &str) -> Spent {
        let at = Timestamp::from_second(hour * 3_600).unwrap();
        Spent { at, cost, agent: Some(agent.to_owned()) }
    }

    #[test]
    fn what_begins_after_the_limit_is_reached_is_refused_until_the_next_day() {
        let spent = [
            request(1, 60, "a"),
            // Begun below the limit: it is let in, though it passes it.
            request(2, 60, "b"),
            request(3, 10, "a"),
            request(4, 20, "c"),
            request(25, 90, "a"),
            request(26, 20, "b"),
        ];
        let daily = stops(&spent, Period::Daily, 100);
        assert_eq!(daily.len(), 1);
        assert_eq!((daily[0].at, daily[0].calls, daily[0].cost), (spent[2].at, 2, 30));
        assert_eq!(
            (daily[0].agents_count, &*daily[0].agents),
            (2, &["a".to_owned(), "c".to_owned()][..])
        );
        let total = stops(&spent, Period::Total, 100);
        assert_eq!((total[0].calls, total[0].cost), (4, 140));
        assert_eq!(stops(&spent, Period::Total, 1_000), []);
    }

    #[test]
    fn an_id_tells_when_to_stop_looking() {
        // 1,700,000,000 seconds as an id tells them.
        let id = CallId::from_uuid(Uuid::from_u128(0x018b_cfe5_6800_7000_8000_0000_0000_0000));
        let made = 1_700_000_000;
        let at = |seconds: i64| Timestamp::from_second(made + seconds).unwrap();
        assert!(!is_long_before(id, at(-1)) && !is_long_before(id, at(60)));
        assert!(is_long_before(id, at(61)));
    }

    proptest! {
        /// What is let in is never more than the limit and one request; a higher limit refuses no more.
        #[test]
        fn a_limit_holds(costs in prop::collection::vec((0_i64..60, 0_i64..50), 0..60), cap in 1_i64..300) {
            let mut spent: Vec<Spent> =
                costs.iter().map(|(hour, cost)| request(*hour, *cost, "a")).collect();
            spent.sort_by_key(|one| one.at);
            let all: i64 = spent.iter().map(|one| one.cost).sum();
            let refused: i64 = stops(&spent, Period::Total, cap).iter().map(|stop| stop.cost).sum();
            prop_assert!(all - refused < cap + 50);
            let calls = |cap| stops(&spent, Period::Daily, cap).iter().map(|stop| stop.calls).sum::<u64>();
            prop_assert!(calls(cap + 1) <= calls(cap));
        }
    }
}
