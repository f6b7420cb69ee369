//! What is around a bead: who links to it, and what keeps it from being begun.

use godel_model::BeadStatus;
use serde::Serialize;

use crate::Result;
use crate::index::{Index, Reason};
use crate::shelf::Shelf;

/// The other end of a link, as far as a list needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    /// How they are linked.
    #[serde(rename = "type")]
    pub kind: String,
    /// The other bead.
    pub id: String,
    /// Its title; none if it is not here.
    pub title: Option<String>,
    /// How far it has come; none if it is not here.
    pub status: Option<BeadStatus>,
}

impl Index {
    fn neighbours(&self, sql: &str, bead: &str) -> Result<Vec<Neighbour>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([bead], |row| {
            let status = row.get::<_, Option<i64>>(3)?.and_then(|at| usize::try_from(at).ok());
            Ok(Neighbour {
                kind: row.get(0)?,
                id: row.get(1)?,
                title: row.get(2)?,
                status: status.and_then(|at| BeadStatus::ALL.get(at).copied()),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Shelf {
    /// Returns what a bead links to.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn links_of(&mut self, bead: &str) -> Result<Vec<Neighbour>> {
        let sql = "SELECT l.kind, l.target, t.title, t.status
                   FROM links AS l LEFT JOIN beads AS t ON t.id = l.target AND NOT t.deleted
                   WHERE l.bead = ?1 ORDER BY l.kind, l.target";
        self.index()?.neighbours(sql, bead)
    }

    /// Returns what links to a bead.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn links_to(&mut self, bead: &str) -> Result<Vec<Neighbour>> {
        let sql = "SELECT l.kind, l.bead, b.title, b.status
                   FROM links AS l JOIN beads AS b ON b.id = l.bead AND NOT b.deleted
                   WHERE l.target = ?1 ORDER BY l.kind, l.bead";
        self.index()?.neighbours(sql, bead)
    }

    /// Returns what keeps a bead from being begun now.
    ///
    /// # Errors
    /// If there is no such bead, or the repository cannot be read.
    pub fn reasons(&mut self, bead: &str) -> Result<Vec<Reason>> {
        let now = self.now();
        self.index()?.reasons(bead, now)
    }

    /// Returns the name that git knows whoever works here by.
    pub fn person(&self) -> Option<String> {
        let name = self.repository.config_snapshot().string("user.name")?;
        let name = name.to_string().trim().to_owned();
        (!name.is_empty()).then_some(name)
    }
}
