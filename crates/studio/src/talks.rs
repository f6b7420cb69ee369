//! Conversations, found by what they are about.

use godel_app::{Call, beads};
use godel_fleet::{Agent, Fleet, Talk, paper};
use godel_model::{AgentId, ProjectId, Reach};
use tracing::instrument;

use crate::Result;

/// Lists conversations about a bead, the newest agent first; `before` is the agent of the last one that is known.
///
/// # Errors
/// If the caller may not, or there is no such bead.
#[instrument(level = "debug", name = "studio.talks.of_bead", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn of_bead(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
    (before, limit): (Option<AgentId>, usize),
) -> Result<Vec<(Talk, Option<Agent>)>> {
    call.may("session", "read", Reach::Team)?;
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let owner = Agent::owner_of(found.project, &found.value.0.id);
    paper::look(fleet.app(), call.actor.tenant, move |tx| {
        let (mut rows, mut from) = (Vec::new(), before.map(AgentId::uuid));
        while rows.len() < limit {
            let agents = paper::of::<Agent>(tx, &owner, from, limit)?;
            let Some(last) = agents.last() else { break };
            from = Some(last.id.uuid());
            for agent in agents {
                // One that has just been made has said nothing yet.
                let talk = paper::by_id::<Talk>(tx, agent.talk)?;
                rows.extend(talk.map(|talk| (talk, Some(agent))));
            }
        }
        rows.truncate(limit);
        Ok(rows)
    })
    .await
}
