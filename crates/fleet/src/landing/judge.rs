//! Gates on files that nobody has seen together before.

use std::sync::Arc;
use std::time::Duration;

use godel_agents::gates::{GateCache as _, GateResult, Gates, key};
use godel_git::{Merge, Name};
use godel_model::AgentId;
use godel_runtime::{Source, SpawnSpec};
use secrecy::SecretString;
use tokio::sync::SetOnce;

use super::train::Ride;
use crate::place::Place;
use crate::{Result, wishes};

/// Runs the gates on merged files, unless all is known about them.
pub(super) async fn judge(ride: &Ride, merge: &Merge) -> Result<Vec<GateResult>> {
    let wanted = &ride.wanted;
    if wanted.gates.is_empty() {
        return Ok(Vec::new());
    }
    let cache = wishes::cache(&ride.fleet)?;
    // Nothing but the bead's own work: that was judged already.
    let known: Option<Vec<_>> = wanted
        .gates
        .iter()
        .map(|gate| {
            // What failed may have failed by chance: whoever tries again means it.
            let known = cache.get(&key(&merge.tree, &gate.run)).filter(|known| known.passed)?;
            let (name, required) = (gate.name.clone(), gate.required);
            Some(GateResult { name, required, cached: true, ..known })
        })
        .collect();
    match known {
        Some(results) => Ok(results),
        None => anew(ride, merge, wanted, true).await,
    }
}

/// Says what failed that must not.
pub(super) fn failure(wanted: &Gates, results: &[GateResult]) -> Option<String> {
    let required = |name: &str| wanted.gates.iter().any(|gate| gate.required && gate.name == name);
    let failed = results.iter().find(|result| !result.passed && required(&result.name));
    failed.map(|result| format!("{}\n{}", result.summary(), result.output_tail))
}

/// Runs gates in a worktree and a sandbox that are made for it.
pub(super) async fn anew(
    ride: &Ride,
    merge: &Merge,
    wanted: &Gates,
    remember: bool,
) -> Result<Vec<GateResult>> {
    let fleet = &ride.fleet;
    let name: Name = format!("landing-{}", merge.bead.as_str()).parse()?;
    let (own, base) = (name.clone(), merge.commit.clone());
    let (tree, common) = fleet
        .at_bench(ride.folder.clone(), move |bench| {
            Ok((bench.look_at(&own, &base)?, bench.common_dir().to_owned()))
        })
        .await?;
    let source = Source::Worktree {
        tree,
        common_dir: common,
        base: merge.commit.clone(),
        bead: name.as_str().to_owned(),
    };
    let id: AgentId = fleet.app().mint.id();
    let runtime = fleet.runtime("worktree")?;
    let sandbox = runtime.spawn(&SpawnSpec::new(id, "landing", source)).await?;
    let place = Place {
        runtime: Arc::clone(&runtime),
        sandbox: sandbox.id,
        ready: Arc::new(SetOnce::new_with(Some(sandbox))),
        token: SecretString::default(),
        folder: ride.folder.clone(),
        program: Vec::new(),
        fresh: true,
    };
    let tree = if remember { merge.tree.as_str() } else { "" };
    let results = wishes::run_anew(fleet, &place, wanted, tree).await;
    drop(runtime.terminate(place.sandbox, Duration::ZERO).await);
    let gone = fleet.at_bench(ride.folder.clone(), move |bench| bench.end_look(&name));
    if let Err(error) = gone.await {
        tracing::info!(%error, "a worktree of a landing was not removed");
    }
    results
}
