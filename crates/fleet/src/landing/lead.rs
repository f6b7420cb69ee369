//! Who leads the line of a project: one server at a time, and whoever was killed goes on at once.

use std::collections::HashMap;
use std::time::Duration;

use godel_model::{ProjectId, TenantId};
use godel_store::Tx;
use jiff::SignedDuration;
use tokio::task::{Id, JoinError, JoinSet};
use uuid::Uuid;

use super::entry::Line;
use super::{queue, train};
use crate::{Fleet, Result, paper};

/// How often lines are looked at although nothing was heard.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long a server leads a line unless it says so again.
const LEAD: SignedDuration = SignedDuration::from_secs(30);
/// How often it says so.
const LEAD_BEAT: Duration = Duration::from_secs(8);

/// Keeps the lines of a tenant going until the server stops.
pub(crate) async fn keep_going(fleet: &Fleet, tenant: TenantId) {
    let stopping = fleet.own.crew.stopping();
    // One that was killed and is up again goes on at once.
    let leader = Uuid::from_u64_pair(fleet.identity(), 0);
    let mut under_way: JoinSet<()> = JoinSet::new();
    let mut busy: HashMap<Id, ProjectId> = HashMap::new();
    loop {
        let moved = fleet.own.moved.notified();
        let mut pause = LOOK_EVERY;
        match paper::look(fleet.app(), tenant, queue::open).await {
            Ok(open) => {
                // A line in which all wait for a time is not led until then.
                let now = fleet.app().clock.now();
                let due = open.iter().filter(|one| one.is_due(now));
                let later =
                    open.iter().filter_map(|one| one.not_before).filter(|at| *at > now).min();
                let later = later.and_then(|at| Duration::try_from(at.duration_since(now)).ok());
                pause = later.map_or(pause, |later| later.min(pause));
                let mut projects: Vec<ProjectId> = due.map(|one| one.project).collect();
                projects.sort_unstable();
                projects.dedup();
                projects.retain(|project| !busy.values().any(|one| one == project));
                for project in projects {
                    let fleet = fleet.clone();
                    let lead = async move { lead(&fleet, tenant, project, leader).await };
                    busy.insert(under_way.spawn(lead).id(), project);
                }
            }
            Err(error) => tracing::warn!(%tenant, %error, "the merge queue could not be read"),
        }
        let wake = async {
            tokio::select! {
                () = moved => {}
                () = tokio::time::sleep(pause) => {}
            }
        };
        tokio::pin!(wake);
        // That a line was led is no reason to lead it again: what waits for something would spin.
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                () = &mut wake => break,
                Some(ended) = under_way.join_next_with_id(), if !under_way.is_empty() => {
                    let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
                    busy.remove(&id);
                }
            }
        }
    }
}

/// Leads a line for a while, unless another server does.
async fn lead(fleet: &Fleet, tenant: TenantId, project: ProjectId, leader: Uuid) {
    let beat = async {
        loop {
            tokio::time::sleep(LEAD_BEAT).await;
            // A database that is away for a moment takes the lead from nobody.
            if matches!(take_lead(fleet, tenant, project, leader).await, Ok(false)) {
                return;
            }
        }
    };
    let work = async {
        if take_lead(fleet, tenant, project, leader).await? {
            return Box::pin(train::turn(fleet, tenant, project)).await;
        }
        Ok(())
    };
    tokio::select! {
        // Whoever has lost the lead stops: the branch moves once in any case.
        () = beat => {}
        done = work => if let Err(error) = done {
            tracing::warn!(%tenant, %project, %error, "the merge queue does not go on");
        },
    }
}

/// Takes the lead of a line, or keeps it; `false` while another server has it.
async fn take_lead(
    fleet: &Fleet,
    tenant: TenantId,
    project: ProjectId,
    leader: Uuid,
) -> Result<bool> {
    let (app, now) = (fleet.app().clone(), fleet.app().clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let line = queue::line(&app, tx, project)?;
        if line.leader.is_some_and(|one| one != leader) && line.until > now {
            return Ok(false);
        }
        let change = |_: &mut Tx<'_>, line: &mut Line| {
            (line.leader, line.until) = (Some(leader), now + LEAD);
            Ok(())
        };
        paper::change_in::<Line, ()>(tx, line.id, change)?;
        Ok(true)
    };
    paper::write(fleet.app(), tenant, work).await
}
