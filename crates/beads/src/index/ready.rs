//! The ready queue, and why the other beads are not in it.

use godel_model::{from_micros, micros};
use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;

use super::Index;
use super::query::{COLUMNS, Row, row};
use crate::Result;

/// A bead that is not ready, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The bead.
    #[serde(flatten)]
    pub row: Row,
    /// What keeps it.
    pub reasons: Vec<Reason>,
}

/// What keeps a bead from being ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Reason {
    /// Another must be closed first.
    Blocked {
        /// How they are linked.
        link: String,
        /// The other.
        by: String,
        /// Its title.
        title: String,
    },
    /// Somebody holds it.
    Held {
        /// Who.
        by: String,
        /// Until when.
        until: Timestamp,
    },
    /// It waits for a moment.
    Deferred {
        /// Which.
        until: Timestamp,
    },
    /// It depends on itself over others.
    Circle {
        /// The beads on the circle.
        path: Vec<String>,
    },
}

impl Index {
    /// Lists what can be begun now: by priority, then age.
    pub(crate) fn ready(&self, now: Timestamp, limit: usize) -> Result<Vec<Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM beads AS b
             WHERE status = 0 AND blocked = 0 AND deleted = 0
               AND (leased IS NULL OR leased <= ?1) AND (defer IS NULL OR defer <= ?1)
             ORDER BY priority, created, id LIMIT ?2"
        );
        let limit_sql = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params![micros(now), limit_sql], row)?;
        let mut rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
        // What somebody began and let go of is offered again. Few leases are over; left to itself,
        // SQLite looks at all that was begun.
        let sql = format!(
            "SELECT {COLUMNS} FROM beads AS b INDEXED BY beads_leased
             WHERE leased IS NOT NULL AND leased <= ?1 AND status = 1 AND blocked = 0
               AND deleted = 0 AND (defer IS NULL OR defer <= ?1)
             ORDER BY priority, created, id LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let again = statement.query_map(params![micros(now), limit_sql], row)?;
        let again: Vec<Row> = again.collect::<Result<_, _>>()?;
        if !again.is_empty() {
            rows.extend(again);
            rows.sort_by(|one, other| {
                let key = |row: &Row| (row.priority, row.created_at, row.id.clone());
                key(one).cmp(&key(other))
            });
            rows.truncate(limit);
        }
        Ok(rows)
    }

    /// Returns the first that can be begun now and is not promised to another agent.
    pub(crate) fn ready_for(&self, now: Timestamp, agent: &str) -> Result<Option<Row>> {
        // Few are promised to others; most of the time the first will do.
        let mut limit = 8;
        loop {
            let rows = self.ready(now, limit)?;
            let all = rows.len() < limit;
            let free = |row: &Row| {
                // Begun means that a lease has ended, which promises nothing any more.
                row.status != godel_model::BeadStatus::Open
                    || row.agent.as_ref().is_none_or(|other| other == agent)
            };
            if let Some(row) = rows.into_iter().find(free) {
                return Ok(Some(row));
            }
            if all {
                return Ok(None);
            }
            limit *= 8;
        }
    }

    /// Lists what is open or begun and cannot be taken now, with what keeps each.
    pub(crate) fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM beads AS b
             WHERE deleted = 0 AND status < 2
               AND (blocked OR leased > ?1 OR defer > ?1)
             ORDER BY priority, created, id LIMIT ?2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows: Vec<Row> =
            statement.query_map(params![micros(now), limit], row)?.collect::<Result<_, _>>()?;
        rows.into_iter()
            .map(|row| Ok(Waiting { reasons: self.reasons(&row.id, now)?, row }))
            .collect()
    }

    /// Returns what keeps a bead from being ready now.
    pub(crate) fn reasons(&self, bead: &str, now: Timestamp) -> Result<Vec<Reason>> {
        let sql = "SELECT agent, leased, defer FROM beads WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (agent, leased, defer): (Option<String>, Option<i64>, Option<i64>) =
            statement.query_row([bead], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let mut reasons = self.blockers(bead)?;
        let later = |at: Option<i64>| at.map(from_micros).filter(|at| *at > now);
        if let Some(until) = later(leased) {
            let by = agent.unwrap_or_else(|| "somebody".to_owned());
            reasons.push(Reason::Held { by, until });
        }
        if let Some(until) = later(defer) {
            reasons.push(Reason::Deferred { until });
        }
        if let Some(path) = self.circle(bead)? {
            reasons.push(Reason::Circle { path });
        }
        Ok(reasons)
    }

    fn blockers(&self, bead: &str) -> Result<Vec<Reason>> {
        let sql = "
            SELECT l.kind, t.id, t.title FROM links AS l JOIN beads AS t ON t.id = l.target
            WHERE l.bead = ?1 AND l.blocks AND NOT t.deleted AND CASE l.kind
                WHEN 'parent-child' THEN t.blocked AND t.status < 3
                WHEN 'conditional-blocks' THEN t.status < 3 OR NOT t.failed
                WHEN 'waits-for' THEN t.status < 3
                ELSE t.status < 3 END
            UNION ALL
            SELECT l.kind, c.id, c.title FROM links AS l JOIN beads AS c ON c.parent = l.target
            WHERE l.bead = ?1 AND l.kind = 'waits-for' AND c.status < 3 AND NOT c.deleted
            ORDER BY 1, 2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([bead], |row| {
            Ok(Reason::Blocked { link: row.get(0)?, by: row.get(1)?, title: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns a way from a bead over blocking links back to itself, if there is one.
    pub(crate) fn circle(&self, bead: &str) -> Result<Option<Vec<String>>> {
        for next in self.needs(bead)? {
            if let Some(mut path) = self.way(&next, bead, false)? {
                path.insert(0, bead.to_owned());
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns a way over blocking links from one bead to another, both included; with `closed`,
    /// also over beads that are closed, for they may be opened again.
    pub(crate) fn way(&self, from: &str, to: &str, closed: bool) -> Result<Option<Vec<String>>> {
        let mut came: std::collections::HashMap<String, Option<String>> =
            std::collections::HashMap::from([(from.to_owned(), None)]);
        let mut next = vec![from.to_owned()];
        while let Some(at) = next.pop() {
            if at == to {
                let mut path = vec![at];
                while let Some(Some(before)) = path.last().and_then(|last| came.get(last)) {
                    path.push(before.clone());
                }
                path.reverse();
                return Ok(Some(path));
            }
            let needs = if closed { self.links_to(&at)? } else { self.needs(&at)? };
            for need in needs {
                if !came.contains_key(&need) {
                    came.insert(need.clone(), Some(at.clone()));
                    next.push(need);
                }
            }
        }
        Ok(None)
    }

    /// Returns the beads that a bead has blocking links to, as long as they are not closed.
    pub(crate) fn needs(&self, bead: &str) -> Result<Vec<String>> {
        let sql = "SELECT l.target FROM links AS l JOIN beads AS t ON t.id = l.target
                   WHERE l.bead = ?1 AND l.blocks AND t.status < 3 AND NOT t.deleted";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_map([bead], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the beads that a bead has blocking links to, closed or not.
    pub(crate) fn links_to(&self, bead: &str) -> Result<Vec<String>> {
        let sql = "SELECT target FROM links WHERE bead = ?1 AND blocks";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_map([bead], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the beads of a convoy that can be begun now.
    pub(crate) fn ready_among(&self, now: Timestamp, convoy: &str) -> Result<Vec<String>> {
        let sql = "SELECT b.id FROM members AS m JOIN beads AS b ON b.id = m.bead
                   WHERE m.convoy = ?1 AND b.deleted = 0 AND b.blocked = 0
                     AND (b.status = 0 OR (b.status = 1 AND b.leased <= ?2))
                     AND (b.leased IS NULL OR b.leased <= ?2) AND (b.defer IS NULL OR b.defer <= ?2)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![convoy, micros(now)], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
