//! What is in the queue, in the text format of Prometheus; written anew for each look, so that what
//! is gone leaves nothing behind.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;

use godel_app::queue::Counts;
use godel_model::{TaskState, TenantId};
use godel_store::Depth;
use jiff::Timestamp;

/// How many pools have lines of their own; what is in all others is summed up as `other`.
const POOLS_MAX: usize = 100;
const OTHER: &str = "other";

/// The pool of a tenant, as labels.
type Place = (String, String);

/// Writes what was counted.
pub(crate) fn render(counts: &Counts) -> String {
    let named = deepest(counts);
    let place = |tenant: TenantId, pool: &str| -> Place {
        if named.contains(&(tenant, pool)) {
            (tenant.to_string(), pool.to_owned())
        } else {
            (OTHER.to_owned(), OTHER.to_owned())
        }
    };
    let mut text = String::new();
    depth(counts, place, &mut text);
    workers(counts, place, &mut text);
    alerts(counts, place, &mut text);
    states(&mut text, "godel_workflow_runs", "runs of workflows that are kept", &counts.runs);
    states(&mut text, "godel_teams", "teams that are kept", &counts.teams);
    let at = counts.at.as_millisecond() as f64 / 1e3;
    head(&mut text, "godel_queue_counted_timestamp_seconds", "when the queue was counted");
    text.push_str(&format!("godel_queue_counted_timestamp_seconds {at}\n"));
    text
}

/// Finds the pools in which most is.
fn deepest(counts: &Counts) -> HashSet<(TenantId, &str)> {
    let mut sizes: HashMap<(TenantId, &str), u64> = HashMap::new();
    for (tenant, depth) in &counts.queue {
        *sizes.entry((*tenant, depth.lane.pool())).or_default() += depth.count;
    }
    for staff in &counts.workers {
        *sizes.entry((staff.tenant, &staff.pool)).or_default() += staff.count;
    }
    let mut all: Vec<_> = sizes.into_iter().collect();
    all.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    all.into_iter().take(POOLS_MAX).map(|(place, _)| place).collect()
}

fn head(text: &mut String, name: &str, what: &str) {
    text.push_str(&format!("# HELP {name} {what}\n# TYPE {name} gauge\n"));
}

/// Writes one line; no value of a label has anything in it that must be escaped.
fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl Display) {
    let labels: Vec<String> =
        labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
    text.push_str(&format!("{name}{{{}}} {value}\n", labels.join(",")));
}

fn depth(counts: &Counts, place: impl Fn(TenantId, &str) -> Place, text: &mut String) {
    let mut sums: BTreeMap<(Place, &str, &str), u64> = BTreeMap::new();
    let mut waits: BTreeMap<(Place, &str), Timestamp> = BTreeMap::new();
    for (tenant, Depth { lane, state, priority, count, oldest }) in &counts.queue {
        let (place, priority) = (place(*tenant, lane.pool()), priority.as_str());
        if let (TaskState::Ready, Some(oldest)) = (state, *oldest) {
            let wait = waits.entry((place.clone(), priority)).or_insert(oldest);
            *wait = oldest.min(*wait);
        }
        *sums.entry((place, priority, state.as_str())).or_default() += count;
    }
    let name = "godel_queue_depth";
    head(text, name, "tasks by tenant, pool, priority and state, counted from what is there");
    for (((tenant, pool), priority, state), count) in sums {
        let labels =
            [("tenant", &*tenant), ("pool", &*pool), ("priority", priority), ("state", state)];
        line(text, name, &labels, count);
    }
    let name = "godel_queue_oldest_wait_seconds";
    head(text, name, "how long the first task that is ready has waited");
    for (((tenant, pool), priority), oldest) in waits {
        let wait = counts.at.duration_since(oldest).as_secs_f64().max(0.0);
        line(text, name, &[("tenant", &tenant), ("pool", &pool), ("priority", priority)], wait);
    }
}

fn workers(counts: &Counts, place: impl Fn(TenantId, &str) -> Place, text: &mut String) {
    let mut sums: BTreeMap<(Place, &str), u64> = BTreeMap::new();
    for staff in &counts.workers {
        let key = (place(staff.tenant, &staff.pool), staff.status.as_str());
        *sums.entry(key).or_default() += staff.count;
    }
    let name = "godel_workers";
    head(text, name, "workers that live, by tenant, pool and status");
    for (((tenant, pool), status), count) in sums {
        line(text, name, &[("tenant", &tenant), ("pool", &pool), ("status", status)], count);
    }
}

/// Writes which pools have more dead letters than they should.
fn alerts(counts: &Counts, place: impl Fn(TenantId, &str) -> Place, text: &mut String) {
    let mut raised: BTreeMap<Place, u32> = BTreeMap::new();
    for (tenant, pool) in &counts.pools {
        if pool.settings.alerted {
            *raised.entry(place(*tenant, pool.name.as_str())).or_default() += 1;
        }
    }
    let name = "godel_queue_dead_letters_alert";
    head(text, name, "1 while a pool has more dead letters than its setting allows");
    for ((tenant, pool), count) in raised {
        line(text, name, &[("tenant", &tenant), ("pool", &pool)], count);
    }
}

fn states(text: &mut String, name: &str, what: &str, counts: &[(String, u64)]) {
    head(text, name, what);
    for (state, count) in counts {
        line(text, name, &[("state", state)], count);
    }
}

#[cfg(test)]
mod tests {
    use godel_model::{Lane, Mint, TaskPriority};

    use super::*;

    fn counts(pools: u32) -> Counts {
        let tenant: TenantId = Mint::system().id();
        let (oldest, at) = (Timestamp::from_second(1_000), Timestamp::from_second(1_007));
        let (oldest, at) = (Some(oldest.unwrap()), at.unwrap());
        let depth = |number: u32| Depth {
            lane: Lane::from_stored(format!("p{number} rust")),
            state: TaskState::Ready,
            priority: TaskPriority::Low,
            count: u64::from(number) + 1,
            oldest,
        };
        let queue = (0..pools).map(|number| (tenant, depth(number))).collect();
        let (workers, runs) = (Vec::new(), Vec::new());
        Counts { at, queue, workers, runs, teams: Vec::new(), pools: Vec::new() }
    }

    #[test]
    fn whoever_makes_many_pools_makes_no_more_series() {
        let text = render(&counts(1_000));
        let series: Vec<&str> =
            text.lines().filter(|line| line.starts_with("godel_queue_depth{")).collect();
        assert_eq!(series.len(), POOLS_MAX + 1);
        let value = |line: &&str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(series.iter().map(value).sum::<u64>(), (1..=1_000).sum::<u64>());
        assert!(text.contains("pool=\"p999\""), "the deepest have their names");
        assert!(!text.contains("pool=\"p0\""));
        assert!(text.contains("priority=\"low\"} 7\n"), "{text}");
    }

    #[test]
    fn lines_of_a_pool_are_one() {
        let mut counts = counts(1);
        let more = counts.queue[0].clone();
        let lane = Lane::from_stored("p0".to_owned());
        counts.queue.push((more.0, Depth { lane, count: 5, ..more.1 }));
        let text = render(&counts);
        assert!(text.contains("pool=\"p0\",priority=\"low\",state=\"ready\"} 6"), "{text}");
    }
}
