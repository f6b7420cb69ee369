//! The purse: agents that stood still because their budget was spent go on when there is more in it.
//!
//! # Invariants
//! - An agent goes on only if more is left in the budget that refused it than when it did, or than at any time
//!   since: what is refused once is not asked again for nothing.
//! - Each agent goes on once, whichever server sees it first.
//! - Looking costs nothing while nobody stands still, and no longer with the years.

mod least;

use std::time::Duration;

use godel_app::Call;
use godel_fleet::{Agent, Error, Fleet, Result, agents, paper, stop};
use godel_model::{Life, TenantId};
use godel_store::{Scope, Tx};

use crate::least::Least;

/// How often it is looked whether there is more.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Lets agents go on from now on, in the background.
pub fn keep_going(fleet: &Fleet) {
    let fleet = fleet.clone();
    fleet.crew().clone().spawn(async move {
        let (stopping, mut least) = (fleet.crew().stopping(), Least::default());
        while tokio::time::timeout(LOOK_EVERY, stopping.cancelled()).await.is_err() {
            if let Err(error) = look(&fleet, &mut least).await {
                tracing::warn!(%error, "nobody can see whether agents have money again");
            }
        }
    });
}

/// Looks at all who stand still.
async fn look(fleet: &Fleet, least: &mut Least) -> Result<()> {
    let paused = |tx: &mut Tx<'_>| {
        let kind = <Agent as paper::Filed>::KIND;
        Ok::<_, Error>(tx.papers(kind).tenants(Life::Paused.as_str())?)
    };
    let tenants: Vec<TenantId> = fleet.app().store.read(Scope::System, paused).await?;
    let (mut seen, mut unseen) = (Vec::new(), false);
    for tenant in tenants {
        match broke(fleet, tenant).await {
            Ok(broke) => {
                seen.extend(broke.iter().map(|(agent, _)| agent.id));
                let_go_on(fleet, tenant, &least.richer(&broke)).await;
            }
            // What goes wrong in one company does not stop the agents of the others.
            Err(error) => {
                tracing::warn!(%tenant, %error, "nobody can see whether its agents have money again");
                unseen = true;
            }
        }
    }
    if !unseen {
        least.keep(&seen);
    }
    Ok(())
}

/// Lets some agents of a tenant go on, unless everything stands still there; it is looked again.
async fn let_go_on(fleet: &Fleet, tenant: TenantId, richer: &[&Agent]) {
    if richer.is_empty() || stop::refuse_if_stopped(fleet, tenant).await.is_err() {
        return;
    }
    let call = fleet.as_fleet(tenant);
    for agent in richer {
        go_on(fleet, &call, agent).await;
    }
}

/// Finds the agents of a tenant whose budget was spent, and what is left for each now.
async fn broke(fleet: &Fleet, tenant: TenantId) -> Result<Vec<(Agent, i64)>> {
    let now = fleet.app().clock.now();
    let find = move |tx: &mut Tx<'_>| {
        let paused: Vec<Agent> = paper::all_in_state(tx, Life::Paused.as_str())?;
        let broke: Vec<Agent> = paused.into_iter().filter(|agent| agent.broke.is_some()).collect();
        if broke.is_empty() {
            return Ok(Vec::new());
        }
        let budgets = tx.budgets().list(tenant)?;
        let with_left = |agent: Agent| {
            let left = agent.broke.map_or(i64::MAX, |short| short.left_now(&budgets, now));
            (agent, left)
        };
        Ok(broke.into_iter().map(with_left).collect())
    };
    paper::look(fleet.app(), tenant, find).await
}

async fn go_on(fleet: &Fleet, call: &Call, agent: &Agent) {
    // A person or another server may have been quicker.
    match agents::resume(fleet, call, &agent.id.to_string()).await {
        Ok(_) => tracing::info!(agent = %agent.label, "there is more in its budget: it goes on"),
        Err(error) => tracing::debug!(agent = %agent.label, %error, "it does not go on"),
    }
}
