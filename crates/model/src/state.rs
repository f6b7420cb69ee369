//! The state of a tenant as the fold of its events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Event, Project, ProjectId, Seq};

/// What a tenant's log adds up to. Tables hold the same; `godel db check` compares the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantState {
    /// The position up to which events are folded in.
    pub seq: Seq,
    /// The projects by id.
    pub projects: BTreeMap<ProjectId, Project>,
}

/// An event that cannot follow the state before it: the log is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of type {kind} cannot follow: {why}")]
pub struct Illegal {
    /// The position of the event.
    pub seq: Seq,
    /// The type of the event.
    pub kind: String,
    /// What does not fit.
    pub why: String,
}

#[derive(Deserialize)]
struct DeletedProject {
    id: ProjectId,
}

impl TenantState {
    /// Folds the next event in.
    ///
    /// # Errors
    /// If the event is not the next one, or tells of a change that is not possible.
    pub fn apply(&mut self, event: &Event) -> Result<(), Illegal> {
        let illegal = |why: String| Illegal { seq: event.seq, kind: event.kind.to_string(), why };
        if event.seq != self.seq.next() {
            return Err(illegal(format!("the one before it is {}", self.seq)));
        }
        match event.kind.as_str() {
            "project:create" | "project:update" => {
                let project: Project =
                    event.payload.read().map_err(|error| illegal(error.to_string()))?;
                let before = self.projects.get(&project.id).map_or(0, |known| known.version);
                if project.version != before + 1 {
                    return Err(illegal(format!(
                        "project {} goes from version {before} to {}",
                        project.id, project.version
                    )));
                }
                self.projects.insert(project.id, project);
            }
            "project:delete" => {
                let gone: DeletedProject =
                    event.payload.read().map_err(|error| illegal(error.to_string()))?;
                if self.projects.remove(&gone.id).is_none() {
                    return Err(illegal(format!("there is no project {}", gone.id)));
                }
            }
            // Other events tell of things that no table holds.
            _ => {}
        }
        self.seq = event.seq;
        Ok(())
    }
}
