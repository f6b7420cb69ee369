//! What work has cost before, out of the ledger.

use std::collections::{BTreeMap, HashMap};

use godel_app::Call;
use godel_books::reports::{self, GroupBy, Narrow};
use godel_fleet::{Fleet, agents, paper};
use godel_intent::estimate::Sample;
use godel_intent::plan::Size;
use godel_model::SpendKind;
use jiff::ToSpan as _;
use jiff::tz::TimeZone;

use super::Wish;
use crate::Result;

/// How many agents are looked at, the newest first.
const AGENTS_MAX: usize = 500;
/// How many intents are looked at for how much work a bead was.
const WISHES_MAX: usize = 200;
/// How far back the ledger is read.
const DAYS: i32 = 180;

/// Returns the runs that are over, the oldest first; none for a caller who may not see what they cost.
pub(super) async fn samples(fleet: &Fleet, call: &Call) -> Result<Vec<Sample>> {
    let today = fleet.app().clock.now().to_zoned(TimeZone::UTC).date();
    let span = (Some(today.saturating_sub(DAYS.days())), Some(today));
    let by = vec![GroupBy::Agent, GroupBy::Provider, GroupBy::Model];
    let Ok(report) = reports::usage(fleet.app(), call, span, by, Narrow::default()).await else {
        return Ok(Vec::new());
    };
    // The cost of an agent, and of its model that cost most.
    let mut costs: HashMap<String, (u64, u64, String)> = HashMap::new();
    for (group, sum) in report.rows {
        let [agent, provider, model] = group.as_slice() else { continue };
        if SpendKind::of(provider) != SpendKind::Models {
            continue;
        }
        let cost = u64::try_from(sum.cost_micros).unwrap_or(0);
        let entry = costs.entry(agent.clone()).or_default();
        entry.0 = entry.0.saturating_add(cost);
        if entry.2.is_empty() || cost > entry.1 {
            (entry.1, entry.2) = (cost, model.clone());
        }
    }
    let sizes = sizes(fleet, call).await?;
    let filter =
        agents::Filter { status: Some("completed".to_owned()), ..agents::Filter::default() };
    let done = agents::list(fleet, call, filter, (None, AGENTS_MAX)).await?;
    let sample = |agent: godel_fleet::Agent| {
        let (cost, _, model) = costs.get(&agent.id.to_string())?.clone();
        let began = agent.began_at.unwrap_or(agent.spawned_at);
        let seconds = agent.completed_at?.duration_since(began).as_secs();
        let size = sizes.get(&agent.bead).copied().unwrap_or(Size::Medium);
        Some(Sample { size, model: Some(model), cost, seconds: u64::try_from(seconds).ok()? })
    };
    let mut samples: Vec<Sample> = done.into_iter().filter_map(sample).collect();
    samples.reverse();
    Ok(samples)
}

/// How much work beads were, as far as they were planned here.
async fn sizes(fleet: &Fleet, call: &Call) -> Result<BTreeMap<String, Size>> {
    let find = |tx: &mut godel_store::Tx<'_>| paper::page::<Wish>(tx, None, WISHES_MAX);
    let wishes = paper::look(fleet.app(), call.actor.tenant, find).await?;
    let mut sizes = BTreeMap::new();
    for wish in wishes {
        for bead in wish.plan.iter().flat_map(|plan| &plan.beads) {
            if let Some(id) = wish.beads.get(&bead.key) {
                sizes.insert(id.clone(), bead.size);
            }
        }
    }
    Ok(sizes)
}
