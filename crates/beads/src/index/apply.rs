//! Taking documents into the index.

use gix::ObjectId;
use godel_model::{Resolution, micros};
use rusqlite::{OptionalExtension as _, params};

use super::{Index, schema};
use crate::Result;
use crate::doc::{Class, Document};
use crate::view::{Bead, Convoy};

impl Index {
    /// Takes a document as it is now; what follows from it for others is worked out by `settle`.
    pub(crate) fn apply(&self, document: &Document, blob: ObjectId, settle: bool) -> Result<()> {
        match document.class {
            Class::Bead => self.apply_bead(&Bead::of(document), blob, settle),
            Class::Convoy => self.apply_convoy(&Convoy::of(document), blob),
            Class::Memory => Ok(()),
        }
    }

    fn apply_bead(&self, bead: &Bead, blob: ObjectId, settle: bool) -> Result<()> {
        let failed = bead.resolution.as_ref().is_some_and(|resolution| {
            resolution["kind"].as_str() == Some(Resolution::WontDo.as_str())
        });
        let before: Option<(i64, Option<String>)> = self
            .connection
            .prepare_cached("SELECT n, parent FROM beads WHERE id = ?1")?
            .query_row([&bead.id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let known = before.as_ref().map(|(number, _)| *number);
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO beads (n, id, blob, kind, title, status, priority, rank, agent, parent,
                                created, updated, defer, leased, failed, deleted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (n) DO UPDATE SET blob = ?3, kind = ?4, title = ?5, status = ?6,
                priority = ?7, rank = ?8, agent = ?9, parent = ?10, created = ?11, updated = ?12,
                defer = ?13, leased = ?14, failed = ?15, deleted = ?16",
        )?;
        statement.execute(params![
            known,
            bead.id,
            blob.as_slice(),
            bead.kind,
            bead.title,
            bead.status as i64,
            bead.priority as i64,
            bead.rank,
            bead.agent,
            bead.parent_bead,
            micros(bead.created_at),
            micros(bead.updated_at),
            bead.defer.map(micros),
            bead.lease.as_ref().map(|lease| micros(lease.until)),
            failed,
            bead.deleted_at.is_some(),
        ])?;
        let number = known.unwrap_or_else(|| self.connection.last_insert_rowid());
        self.apply_sets(bead, known.is_some())?;
        self.apply_words(bead, number, known.is_some())?;
        if settle {
            self.settle(&bead.id)?;
            // Whoever waits for all parts of the former parent has one part less to wait for.
            let former = before.and_then(|(_, parent)| parent);
            if let Some(former) = former.filter(|former| Some(former) != bead.parent_bead.as_ref())
            {
                self.settle(&former)?;
            }
        }
        Ok(())
    }

    fn apply_sets(&self, bead: &Bead, known: bool) -> Result<()> {
        if known {
            for sql in [
                "DELETE FROM labels WHERE bead = ?1",
                "DELETE FROM links WHERE bead = ?1",
                "DELETE FROM aliases WHERE bead = ?1",
            ] {
                self.connection.prepare_cached(sql)?.execute([&bead.id])?;
            }
        }
        for label in &bead.labels {
            let sql = "INSERT OR IGNORE INTO labels (label, bead) VALUES (?1, ?2)";
            self.connection.prepare_cached(sql)?.execute([label, &bead.id])?;
        }
        for link in &bead.links {
            let sql = "INSERT OR IGNORE INTO links (bead, kind, target, blocks) \
                       VALUES (?1, ?2, ?3, ?4)";
            self.connection.prepare_cached(sql)?.execute(params![
                bead.id,
                link.kind,
                link.target,
                link.blocks()
            ])?;
        }
        for alias in &bead.aliases {
            let sql = "INSERT OR IGNORE INTO aliases (alias, bead) VALUES (?1, ?2)";
            self.connection.prepare_cached(sql)?.execute([alias, &bead.id])?;
        }
        Ok(())
    }

    fn apply_words(&self, bead: &Bead, number: i64, known: bool) -> Result<()> {
        if known {
            let sql = "DELETE FROM words WHERE rowid = ?1";
            self.connection.prepare_cached(sql)?.execute([number])?;
        }
        if bead.deleted_at.is_some() {
            return Ok(());
        }
        let mut body = format!("{}\n{}", bead.id, bead.title);
        let texts = [&bead.description, &bead.acceptance, &bead.agent];
        let texts = texts.into_iter().flatten().map(String::as_str);
        let said = bead.comments.iter().filter_map(|comment| comment["text"].as_str());
        let names = bead.labels.iter().chain(&bead.aliases).map(String::as_str);
        for text in texts.chain(said).chain(names) {
            body.push('\n');
            body.push_str(text);
        }
        let sql = "INSERT INTO words (rowid, body) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![number, body])?;
        Ok(())
    }

    fn apply_convoy(&self, convoy: &Convoy, blob: ObjectId) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO convoys (id, blob, name, status, created, updated, \
                   deleted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.connection.prepare_cached(sql)?.execute(params![
            convoy.id,
            blob.as_slice(),
            convoy.name,
            convoy.status,
            micros(convoy.created_at),
            micros(convoy.updated_at),
            convoy.deleted_at.is_some(),
        ])?;
        let sql = "DELETE FROM members WHERE convoy = ?1";
        self.connection.prepare_cached(sql)?.execute([&convoy.id])?;
        for bead in convoy.beads.iter().filter(|_| convoy.deleted_at.is_none()) {
            let sql = "INSERT OR IGNORE INTO members (convoy, bead) VALUES (?1, ?2)";
            self.connection.prepare_cached(sql)?.execute([&convoy.id, bead])?;
        }
        Ok(())
    }

    /// Remembers that a document cannot be read, or that it can again.
    pub(crate) fn set_damaged(&self, path: &str, why: Option<&str>) -> Result<()> {
        match why {
            Some(why) => {
                let sql = "INSERT OR REPLACE INTO damaged (path, why) VALUES (?1, ?2)";
                self.connection.prepare_cached(sql)?.execute([path, why])?;
            }
            None => {
                let sql = "DELETE FROM damaged WHERE path = ?1";
                self.connection.prepare_cached(sql)?.execute([path])?;
            }
        }
        Ok(())
    }

    /// Forgets everything, to be built anew.
    pub(crate) fn empty(&self) -> Result<()> {
        Ok(schema::empty(&self.connection)?)
    }
}

impl Index {
    /// Keeps the place of a bead that cannot be read: begun by nobody, and in the way of others.
    pub(crate) fn hold_place(&self, id: &str, blob: ObjectId, settle: bool) -> Result<()> {
        let sql = "INSERT INTO beads (id, blob, kind, title, status, priority, created, updated,
                                      failed, deleted)
                   VALUES (?1, ?2, 'task', '(damaged)', 1, 2, 0, 0, 0, 0)
                   ON CONFLICT (id) DO UPDATE SET blob = ?2, status = 1, leased = NULL";
        self.connection.execute(sql, params![id, blob.as_slice()])?;
        if settle { self.settle(id) } else { Ok(()) }
    }

    /// Forgets a document that is no longer in the tree.
    pub(crate) fn forget(&self, class: Class, id: &str) -> Result<()> {
        match class {
            Class::Bead => {
                let sql = "DELETE FROM words WHERE rowid = (SELECT n FROM beads WHERE id = ?1)";
                self.connection.execute(sql, [id])?;
                for table in ["labels", "links", "aliases"] {
                    self.connection
                        .execute(&format!("DELETE FROM {table} WHERE bead = ?1"), [id])?;
                }
                self.connection.execute("DELETE FROM beads WHERE id = ?1", [id])?;
                self.settle(id)
            }
            Class::Convoy => {
                self.connection.execute("DELETE FROM members WHERE convoy = ?1", [id])?;
                self.connection.execute("DELETE FROM convoys WHERE id = ?1", [id])?;
                Ok(())
            }
            Class::Memory => Ok(()),
        }
    }

    /// Remembers whether the readable view must be written as a whole.
    pub(crate) fn set_view_behind(&self, behind: bool) -> Result<()> {
        let sql = if behind {
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('view', 'behind')"
        } else {
            "DELETE FROM meta WHERE key = 'view'"
        };
        self.connection.execute(sql, [])?;
        Ok(())
    }

    /// Tells whether the readable view must be written as a whole.
    pub(crate) fn view_behind(&self) -> Result<bool> {
        let sql = "SELECT count(*) FROM meta WHERE key = 'view'";
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? > 0)
    }
}
