//! What runs or waits, so that words can be understood as one of them.

use godel_app::{Call, beads, workflows};
use godel_beads::Filter;
use godel_fleet::{Fleet, agents};
use godel_intent::parse::{Candidate, CandidateKind};
use godel_model::ProjectId;

use crate::Result;

/// How many of each kind are looked at.
const EACH_MAX: usize = 200;
/// How many convoys are looked at.
const CONVOYS_MAX: usize = 30;

/// Finds what could be meant: agents that are not over, beads that are not done, convoys that are active.
pub(super) async fn candidates(
    fleet: &Fleet,
    call: &Call,
    project: ProjectId,
) -> Result<Vec<Candidate>> {
    let (app, mut found) = (fleet.app(), Vec::new());
    let filter = agents::Filter { project: Some(project), ..agents::Filter::default() };
    let live = agents::list(fleet, call, filter, (None, EACH_MAX)).await?;
    let listing = beads::Listing {
        project: Some(project),
        filter: Filter::default(),
        limit: EACH_MAX,
        ..beads::Listing::default()
    };
    let (open, ..) = beads::beads(app, call, listing).await?;
    let convoys = beads::convoys(app, call, Some(project)).await?;
    let active =
        convoys.into_iter().map(|placed| placed.value).filter(|one| one.status == "active");
    let active: Vec<_> = active.take(CONVOYS_MAX).collect();
    let title = |bead: &str| {
        let known = open.iter().find(|placed| placed.value.id == bead);
        known.map(|placed| placed.value.title.clone()).unwrap_or_default()
    };
    for agent in live.iter().filter(|agent| !agent.life.is_over()) {
        found.push(Candidate {
            id: agent.id.to_string(),
            kind: CandidateKind::Agent,
            name: agent.label.clone(),
            about: title(&agent.bead),
            state: agent.life.as_str().to_owned(),
            of: Some(agent.bead.clone()),
        });
    }
    for bead in open.iter().map(|placed| &placed.value) {
        let convoy = active.iter().find(|convoy| convoy.beads.contains(&bead.id));
        found.push(Candidate {
            id: bead.id.clone(),
            kind: CandidateKind::Bead,
            name: bead.title.clone(),
            about: String::new(),
            state: bead.status.to_string(),
            of: convoy.map(|convoy| convoy.id.clone()),
        });
    }
    found.extend(active.into_iter().map(|convoy| Candidate {
        id: convoy.id,
        kind: CandidateKind::Convoy,
        name: convoy.name,
        about: String::new(),
        state: convoy.status,
        of: None,
    }));
    Ok(found)
}

/// Lists the workflows that there are, by their names; none for a caller who may not see them.
pub(super) async fn workflows(fleet: &Fleet, call: &Call) -> Vec<String> {
    let found = workflows::definitions::list(fleet.app(), call, None, EACH_MAX).await;
    found.unwrap_or_default().into_iter().map(|one| one.name).collect()
}
