//! Agents at work, by the time that they take.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use godel_fleet::{Agent, Fleet, Result, paper};
use godel_model::{
    AgentId, EventFilter, Life, Pattern, Seq, SpendKind, TenantId, UsageKey, UsageSum, micros,
};
use godel_proxy::Rates;
use godel_store::{Direction, Scope, Tx};
use jiff::{SignedDuration, Timestamp};

use crate::due;
use crate::mark::{self, Mark};

/// What happened so lately may not be written yet.
const LAG: SignedDuration = SignedDuration::from_secs(2);
/// A server that was away for longer than this, and than three turns, had nobody at work.
const AWAY: Duration = Duration::from_secs(300);
/// How many events are read at once.
const PAGE: usize = 200;

/// What is to be paid.
struct Bill {
    from: Mark,
    to: (Timestamp, Seq),
    sums: Vec<(UsageKey, i64)>,
}

/// Pays for the agents of a tenant.
pub(crate) async fn pay(fleet: &Fleet, tenant: TenantId, rates: Arc<Rates>) -> Result<()> {
    let app = fleet.app();
    let now = app.clock.now().saturating_sub(LAG).unwrap_or(Timestamp::UNIX_EPOCH);
    let (id, is_paid) = (tenant.uuid(), !rates.is_empty());
    let begin = move |tx: &mut Tx<'_>| mark::due(tx, id, (now, is_paid));
    let Some(from) = paper::write(app, tenant, begin).await? else { return Ok(()) };
    if !crate::is_time(&rates, (from.until, now)) {
        return Ok(());
    }
    let read = move |tx: &mut Tx<'_>| bill(tx, &rates, (from.clone(), now));
    let bill = Arc::new(app.store.read_long(Scope::Tenant(tenant), read).await?);
    let work = move |tx: &mut Tx<'_>| {
        if mark::move_on(tx, &bill.from, bill.to)? {
            for (key, cost_micros) in &bill.sums {
                let sum = UsageSum { cost_micros: *cost_micros, ..UsageSum::default() };
                tx.usage().add(tenant, key, &sum)?;
            }
        }
        Ok(())
    };
    paper::write(app, tenant, work).await
}

/// Works out what is to be paid.
fn bill(tx: &mut Tx<'_>, rates: &Rates, (from, now): (Mark, Timestamp)) -> Result<Bill> {
    let (agents, seen) = seen(tx, (from.seen, now))?;
    let span = (micros(from.until), micros(paid_until(rates, (from.until, now))));
    let mut sums = Vec::new();
    for agent in agents.values() {
        let Some(hourly) = rates.runtime_hour.get(&agent.runtime) else { continue };
        let story = due::story(agent);
        for (quarter, part) in due::quarters(span) {
            let cost = due::for_work(&story, *hourly, part);
            if cost > 0 {
                sums.push((key(agent, quarter), cost));
            }
        }
    }
    // It moves although nobody was at work: a rate that is set later does not count for the time before.
    Ok(Bill { from, to: (now, seen), sums })
}

/// Returns up to when is paid. Where nobody has looked for long there was no server, and nobody was at work
/// whatever the record says: one turn is paid, in which it may have ended.
fn paid_until(rates: &Rates, (from, now): (Timestamp, Timestamp)) -> Timestamp {
    let gone = Duration::try_from(now.duration_since(from)).unwrap_or_default();
    if gone <= (rates.every * 3).max(AWAY) {
        return now;
    }
    from.checked_add(rates.every).unwrap_or(now)
}

/// Finds the agents that are at work, or had something happen to them since an event. Tells up to which event
/// all of it happened before a moment: what happened since is paid for the next time.
fn seen(
    tx: &mut Tx<'_>,
    (since, until): (Seq, Timestamp),
) -> Result<(BTreeMap<AgentId, Agent>, Seq)> {
    let mut found = BTreeMap::new();
    for life in Life::ALL.into_iter().filter(|life| life.is_running()) {
        let agents: Vec<Agent> = paper::all_in_state(tx, life.as_str())?;
        found.extend(agents.into_iter().map(|agent| (agent.id, agent)));
    }
    let filter = EventFilter::new(vec!["agent:*".parse::<Pattern>()?], BTreeMap::new())?;
    let (mut from, mut seen, mut is_before) = (since, since, true);
    loop {
        let page = tx.events().page(&filter, Direction::Forward, from, PAGE)?;
        for event in &page.events {
            is_before &= event.at <= until;
            if is_before {
                seen = event.seq;
            }
            let id = event.metadata.refs.get("agentId").and_then(|id| id.parse::<AgentId>().ok());
            let Some(id) = id.filter(|id| !found.contains_key(id)) else { continue };
            if let Some(agent) = paper::by_id::<Agent>(tx, id.uuid())? {
                found.insert(id, agent);
            }
        }
        from = page.reached;
        if is_before {
            seen = from;
        }
        if !page.more {
            return Ok((found, seen));
        }
    }
}

fn key(agent: &Agent, quarter: i64) -> UsageKey {
    UsageKey {
        quarter,
        provider: SpendKind::Runtime.as_str().to_owned(),
        model: agent.runtime.clone(),
        project: agent.project.to_string(),
        user: agent.user.to_string(),
        agent: agent.id.to_string(),
        bead: agent.bead.clone(),
        convoy: agent.convoy.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_short_absence_is_paid_and_of_a_long_one_a_turn() {
        let rates = |seconds| Rates { every: Duration::from_secs(seconds), ..Rates::default() };
        let from = Timestamp::UNIX_EPOCH;
        let after = |seconds| from.checked_add(SignedDuration::from_secs(seconds)).unwrap();
        assert_eq!(paid_until(&rates(60), (from, after(60))), after(60));
        assert_eq!(paid_until(&rates(60), (from, after(300))), after(300), "it was begun anew");
        assert_eq!(paid_until(&rates(60), (from, after(301))), after(60));
        assert_eq!(paid_until(&rates(3_600), (from, after(7_000))), after(7_000), "two slow turns");
        assert_eq!(paid_until(&rates(60), (after(9), from)), from, "a clock that was put back");
    }
}
