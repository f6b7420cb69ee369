//! Beads and convoys as the API shows them.

use godel_api::{
    Bead, BeadComment, BeadLink, BeadRow, CheckedCommit, Convoy, ConvoyProgress, Lease,
};
use godel_app::beads::Placed;
use godel_beads::{self as shelf, LinkedCommit, Row};
use godel_model::ProjectId;
use serde_json::Value;

pub(crate) fn bead(project: ProjectId, bead: shelf::Bead) -> Bead {
    Bead {
        id: bead.id,
        project_id: project.uuid(),
        kind: bead.kind,
        title: bead.title,
        description: bead.description,
        status: bead.status.to_string(),
        priority: bead.priority.to_string(),
        rank: bead.rank,
        agent: bead.agent,
        lease: bead.lease.map(|lease| Lease { until: lease.until }),
        worktree: bead.worktree,
        commits: bead.commits,
        parent_bead: bead.parent_bead,
        labels: bead.labels,
        links: bead
            .links
            .into_iter()
            .map(|link| BeadLink { kind: link.kind, target: link.target })
            .collect(),
        comments: bead.comments.iter().map(comment).collect(),
        resolution: bead.resolution,
        landed: bead.landed,
        estimate: bead.estimate,
        budget: bead.budget,
        acceptance: bead.acceptance,
        defer: bead.defer,
        metadata: bead.metadata,
        created_by: bead.created_by,
        created_at: bead.created_at,
        updated_at: bead.updated_at,
    }
}

fn comment(comment: &Value) -> BeadComment {
    let text = |member: &str| comment[member].as_str().unwrap_or_default().to_owned();
    BeadComment { id: text("id"), by: text("by"), at: text("at"), text: text("text") }
}

pub(crate) fn row(project: ProjectId, row: Row) -> BeadRow {
    BeadRow {
        id: row.id,
        project_id: project.uuid(),
        kind: row.kind,
        title: row.title,
        status: row.status.to_string(),
        priority: row.priority.to_string(),
        agent: row.agent,
        blocked: row.blocked,
        created_at: row.created_at,
    }
}

pub(crate) fn placed_row(placed: Placed<Row>) -> BeadRow {
    row(placed.project, placed.value)
}

pub(crate) fn commit(commit: LinkedCommit) -> CheckedCommit {
    let LinkedCommit { id, subject, present, landed } = commit;
    CheckedCommit { id, subject, present, landed }
}

pub(crate) fn convoy(project: ProjectId, convoy: shelf::Convoy) -> Convoy {
    Convoy {
        id: convoy.id,
        project_id: project.uuid(),
        name: convoy.name,
        description: convoy.description,
        beads: convoy.beads,
        status: convoy.status,
        created_by: convoy.created_by,
        created_at: convoy.created_at,
        updated_at: convoy.updated_at,
        completed_at: convoy.completed_at,
    }
}

pub(crate) fn progress(progress: shelf::Progress) -> ConvoyProgress {
    let shelf::Progress { total, open, in_progress, review, done, blocked, percent } = progress;
    ConvoyProgress { total, open, in_progress, review, done, blocked, percent }
}
