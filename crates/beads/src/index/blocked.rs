//! Which beads are blocked, kept up to date with each change so that `ready` need not search.

use std::collections::{HashSet, VecDeque};

use rusqlite::params;

use super::Index;
use crate::Result;

/// Whether a bead `b` is held up by one of its links. A link to a bead that is not here, or was
/// deleted, holds up nothing.
const HELD_UP: &str = "
    SELECT EXISTS (
        SELECT 1 FROM links AS l JOIN beads AS t ON t.id = l.target
        WHERE l.bead = ?1 AND l.blocks AND NOT t.deleted AND CASE l.kind
            WHEN 'parent-child' THEN t.blocked AND t.status < 3
            WHEN 'conditional-blocks' THEN t.status < 3 OR NOT t.failed
            WHEN 'waits-for' THEN t.status < 3 OR EXISTS (
                SELECT 1 FROM beads AS c
                WHERE c.parent = t.id AND c.status < 3 AND NOT c.deleted)
            ELSE t.status < 3
        END)";

/// Who may be held up by a bead: those that link to it, and those that wait for its parent.
const CONCERNED: &str = "
    SELECT bead FROM links WHERE target = ?1 AND blocks
    UNION
    SELECT l.bead FROM beads AS b JOIN links AS l ON l.target = b.parent
    WHERE b.id = ?1 AND l.kind = 'waits-for'";

impl Index {
    /// Works out what a change of a bead means for itself and for those that depend on it.
    pub(crate) fn settle(&self, bead: &str) -> Result<()> {
        self.judge(bead)?;
        let mut waiting: VecDeque<String> = self.concerned(bead)?.into();
        let mut queued: HashSet<String> = waiting.iter().cloned().collect();
        while let Some(next) = waiting.pop_front() {
            queued.remove(&next);
            // Only a change of its own state can concern others in turn; one that was judged before
            // its parent was is judged again. A flag only follows that of a parent, so this ends.
            if self.judge(&next)? {
                for one in self.concerned(&next)? {
                    if queued.insert(one.clone()) {
                        waiting.push_back(one);
                    }
                }
            }
        }
        Ok(())
    }

    /// Works out for every bead whether it is blocked; after a rebuild.
    pub(crate) fn settle_all(&self) -> Result<()> {
        self.connection.execute_batch("UPDATE beads SET blocked = 0 WHERE blocked")?;
        let linked = "SELECT DISTINCT bead FROM links WHERE blocks AND kind <> 'parent-child'";
        let mut statement = self.connection.prepare(linked)?;
        let beads: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for bead in beads {
            self.judge(&bead)?;
        }
        // Parts are held up with the whole, however deep.
        let parts = "UPDATE beads SET blocked = 1 WHERE NOT blocked AND id IN (
            SELECT l.bead FROM links AS l JOIN beads AS t ON t.id = l.target
            WHERE l.kind = 'parent-child' AND t.blocked AND t.status < 3 AND NOT t.deleted)";
        while self.connection.execute(parts, [])? > 0 {}
        Ok(())
    }

    /// Sets whether a bead is blocked; tells whether that is news.
    fn judge(&self, bead: &str) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(HELD_UP)?;
        let blocked: bool = statement.query_row([bead], |row| row.get(0))?;
        let sql = "UPDATE beads SET blocked = ?2 WHERE id = ?1 AND blocked <> ?2";
        Ok(self.connection.prepare_cached(sql)?.execute(params![bead, blocked])? > 0)
    }

    fn concerned(&self, bead: &str) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(CONCERNED)?;
        Ok(statement.query_map([bead], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}
