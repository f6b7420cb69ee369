//! The writer: one thread, one connection, one fsync for all that arrived during the last one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use godel_model::chain::{End, Link};
use godel_model::{AuditEntry, NewEvent, Seq, TenantId};
use godel_sound::Damage;
use rusqlite::Connection;
use tokio::sync::mpsc;

use crate::fault::fault;
use crate::hub::{Hub, Logged};
use crate::job::Job;
use crate::seal::Seal;
use crate::sqlite::mover::{self, Mover};
use crate::sqlite::{moments, sound};
use crate::statement::Conn;
use crate::tables::{audit, events, idempotency};
use crate::tx::{Drafts, Rename};
use crate::{Error, Result, Tx};

/// How many jobs share one commit, at most.
const BATCH_MAX_JOBS: usize = 512;
/// Above this size the log of SQLite is moved into the database.
const CHECKPOINT_BYTES: i64 = 16 * 1024 * 1024;
/// Above this size the writer waits until it was moved.
const LOG_MAX_BYTES: i64 = 64 * 1024 * 1024;
/// How often the size of that log is looked at.
const CHECKPOINT_LOOK_BATCHES: usize = 16;

/// The ends of the tenants' logs and chains.
#[derive(Debug, Default)]
struct Heads {
    events: HashMap<TenantId, Seq>,
    acts: HashMap<TenantId, Link>,
    /// Names that a batch took out of the logs: events of its own are stored after that.
    renames: Vec<Rename>,
}

impl Heads {
    fn extend(&mut self, newer: Self) {
        self.events.extend(newer.events);
        self.acts.extend(newer.acts);
        self.renames.extend(newer.renames);
    }
}

/// Owns the only connection that writes.
pub(super) struct Writer {
    conn: Connection,
    hub: Arc<Hub>,
    seal: Arc<Seal>,
    /// The ends of each tenant that was written to, as committed.
    heads: Heads,
    page_bytes: i64,
    mover: Mover,
    damage: Damage,
    /// Whether people know that somebody reads for too long.
    held: bool,
}

/// The events that a job recorded, or that it is not part of the commit.
type Outcome = Result<Vec<(TenantId, Arc<Logged>)>>;

/// What became of a batch before its commit.
enum Ran {
    /// It can be committed.
    Ready(Vec<Outcome>),
    /// A job failed after it wrote something: only a rollback undoes that.
    Dirty,
    /// SQLite itself rolled the transaction back, as it does when the disk is full or fails. What
    /// would run now would be committed by itself.
    Gone,
    /// Nothing of it could run.
    Failed(Error),
}

/// The ends of the logs and chains while a batch runs.
struct Positions<'b> {
    seal: &'b Seal,
    committed: &'b Heads,
    /// The newest positions that this batch gave.
    heads: &'b mut Heads,
}

impl Positions<'_> {
    /// Gives what one job recorded its places. Events are stored when all of the batch have theirs.
    fn append(&mut self, conn: &mut Conn<'_>, drafts: Drafts) -> Outcome {
        // Counted apart until all are in: a failed job must not leave a hole behind it.
        let mut own = Heads { renames: drafts.renames, ..Heads::default() };
        let logged = self.append_events(conn, drafts.events, &mut own.events)?;
        for (id, key) in drafts.receipts {
            if let Some((tenant, logged)) = logged.iter().find(|(_, one)| one.event.id == id) {
                idempotency::note(conn, *tenant, &key, &logged.event)?;
            }
        }
        if !drafts.acts.is_empty() {
            self.append_acts(conn, drafts.acts, &mut own.acts)?;
        }
        self.heads.extend(own);
        Ok(logged)
    }

    fn append_events(
        &self,
        conn: &mut Conn<'_>,
        drafts: Vec<(TenantId, NewEvent)>,
        own: &mut HashMap<TenantId, Seq>,
    ) -> Outcome {
        let mut logged = Vec::with_capacity(drafts.len());
        // Most jobs are about one tenant.
        let mut last: Option<(TenantId, Seq)> = None;
        for (tenant, draft) in drafts {
            let head = match last {
                Some((same, head)) if same == tenant => head,
                _ => self.head(conn, tenant, own)?,
            };
            let seq = head.next();
            if let Some((other, head)) = last.replace((tenant, seq))
                && other != tenant
            {
                own.insert(other, head);
            }
            logged.push((tenant, Logged::new(draft.at_seq(seq))));
        }
        own.extend(last);
        Ok(logged)
    }

    fn head(
        &self,
        conn: &mut Conn<'_>,
        tenant: TenantId,
        own: &HashMap<TenantId, Seq>,
    ) -> Result<Seq> {
        let known = own.get(&tenant).or_else(|| self.heads.events.get(&tenant));
        match known.or_else(|| self.committed.events.get(&tenant)) {
            Some(head) => Ok(*head),
            None => Ok(events::bounds(conn, tenant)?.0),
        }
    }

    fn append_acts(
        &self,
        conn: &mut Conn<'_>,
        drafts: Vec<(TenantId, AuditEntry)>,
        own: &mut HashMap<TenantId, Link>,
    ) -> Result<()> {
        let key = self.seal.key()?;
        for (tenant, draft) in drafts {
            let known = own.get(&tenant).or_else(|| self.heads.acts.get(&tenant));
            let newest = match known.or_else(|| self.committed.acts.get(&tenant)) {
                Some(newest) => *newest,
                None => audit::newest(conn, tenant)?,
            };
            let bound = key.bind(tenant, &newest, draft);
            audit::insert(conn, tenant, &bound)?;
            own.insert(tenant, bound.link());
        }
        Ok(())
    }
}

impl Writer {
    pub(super) fn new(
        conn: Connection,
        mover: Mover,
        (hub, seal, damage): (Arc<Hub>, Arc<Seal>, Damage),
    ) -> Self {
        let page_bytes = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap_or(4_096);
        Self { conn, hub, seal, heads: Heads::default(), page_bytes, mover, damage, held: false }
    }

    /// Works until the queue is closed and empty.
    ///
    /// There is no timer: a batch is what arrived while the last one was being written, so an idle
    /// store answers after one fsync and a busy one groups by itself.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut usual = 0;
        let mut batches: usize = 0;
        while let Some(first) = jobs.blocking_recv() {
            let mut arriving = Arriving { jobs: &mut jobs, first: Some(first), taken: 0, usual };
            self.commit(&mut arriving);
            usual = arriving.taken;
            batches += 1;
            if batches.is_multiple_of(CHECKPOINT_LOOK_BATCHES) {
                self.move_if_large();
            }
            if self.mover.has_moved() {
                // What was written meanwhile is little.
                self.move_log();
            }
        }
        drop(self.mover);
        if let Err(error) = mover::checkpoint(&self.conn, "TRUNCATE") {
            tracing::warn!(%error, "the last checkpoint failed; the next start repeats it");
        }
    }

    /// Commits all jobs together.
    ///
    /// First without savepoints, which would make SQLite copy each page before its change. If a job
    /// fails after it wrote something, the batch is undone and runs again with a savepoint a job.
    fn commit(&mut self, jobs: impl Iterator<Item = Box<dyn Job>>) {
        let mut batch = Vec::new();
        let mut heads = Heads::default();
        let mut ran = self.run_arriving(jobs, &mut batch, &mut heads);
        if matches!(ran, Ran::Dirty) {
            drop(self.sql("ROLLBACK"));
            heads = Heads::default();
            ran = self.run_again(&mut batch, &mut heads);
        }
        let outcomes = match ran {
            Ran::Ready(outcomes) => outcomes,
            Ran::Dirty => return self.give_up(batch, &Error::Panicked),
            Ran::Gone => return self.give_up(batch, &Error::DiskFull),
            Ran::Failed(error) => return self.give_up(batch, &error),
        };
        let stored = self.store_heads(&heads);
        let stored = stored.and_then(|()| self.store_events(&outcomes, &heads.renames));
        let committed = stored.and_then(|()| {
            fault("store-before-commit");
            self.sql("COMMIT").map_err(|cause| Error::sqlite("commit", cause))
        });
        fault("store-committed");
        match committed {
            Ok(()) => self.answer(batch, outcomes, heads),
            Err(error) => {
                stop_if_disk_failed(&error);
                self.give_up(batch, &error);
            }
        }
    }

    /// Undoes what is left of a batch and answers all its jobs with the same error.
    fn give_up(&self, batch: Vec<Box<dyn Job>>, error: &Error) {
        if !self.conn.is_autocommit() {
            drop(self.sql("ROLLBACK"));
        }
        fail_all(batch, error);
    }

    fn sql(&self, text: &str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(text)?.execute([]).map(drop)
    }

    /// Opens a transaction and the ends of the logs in it.
    fn begin<'b>(&'b self, heads: &'b mut Heads) -> Result<Positions<'b>> {
        fault("store-before-begin");
        sound::vouch(&self.damage)?;
        self.sql("BEGIN IMMEDIATE").map_err(|cause| Error::sqlite("begin", cause))?;
        fault("store-begun");
        Ok(Positions { seal: &self.seal, committed: &self.heads, heads })
    }

    /// Runs jobs as they arrive, up to the first one that spoils the transaction: while one runs
    /// here, others are on their way, and nobody waits for the last of them.
    fn run_arriving(
        &self,
        jobs: impl Iterator<Item = Box<dyn Job>>,
        batch: &mut Vec<Box<dyn Job>>,
        heads: &mut Heads,
    ) -> Ran {
        let mut log = match self.begin(heads) {
            Ok(log) => log,
            Err(error) => {
                batch.extend(jobs);
                return Ran::Failed(error);
            }
        };
        let mut outcomes = Vec::new();
        for mut job in jobs.filter(|job| !job.abandoned()) {
            let (outcome, wrote) = self.run_one(job.as_mut(), &mut log);
            batch.push(job);
            if self.conn.is_autocommit() {
                return Ran::Gone;
            }
            if outcome.is_err() && wrote {
                return Ran::Dirty;
            }
            outcomes.push(outcome);
        }
        Ran::Ready(outcomes)
    }

    /// Runs a batch again, each job under a savepoint.
    fn run_again(&self, batch: &mut [Box<dyn Job>], heads: &mut Heads) -> Ran {
        let mut log = match self.begin(heads) {
            Ok(log) => log,
            Err(error) => return Ran::Failed(error),
        };
        let mut outcomes = Vec::with_capacity(batch.len());
        for job in batch {
            let outcome = self.run_careful(job.as_mut(), &mut log);
            if self.conn.is_autocommit() {
                return Ran::Gone;
            }
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => return Ran::Failed(error),
            }
        }
        Ran::Ready(outcomes)
    }

    /// Runs one job; tells also whether it wrote anything.
    fn run_one(&self, job: &mut dyn Job, log: &mut Positions<'_>) -> (Outcome, bool) {
        let mut tx = Tx::new(Conn::sqlite(&self.conn), job.scope(), true);
        if !job.run(&mut tx) {
            return (Err(Error::Closed), tx.conn.wrote());
        }
        let drafts = tx.take_drafts();
        let recorded = !drafts.events.is_empty() || !drafts.acts.is_empty();
        let wrote = recorded || tx.conn.wrote();
        (log.append(&mut tx.conn, drafts), wrote)
    }

    /// Runs one job under a savepoint, so that its failure undoes nothing of its neighbours; an error if
    /// that failed, because then nobody knows what is left of the batch.
    fn run_careful(&self, job: &mut dyn Job, log: &mut Positions<'_>) -> Result<Outcome> {
        self.sql("SAVEPOINT job").map_err(|cause| Error::sqlite("savepoint", cause))?;
        let (outcome, _) = self.run_one(job, log);
        if outcome.is_err() {
            self.sql("ROLLBACK TO job").map_err(|cause| Error::sqlite("rollback", cause))?;
        }
        self.sql("RELEASE job").map_err(|cause| Error::sqlite("release", cause))?;
        Ok(outcome)
    }

    fn store_heads(&self, heads: &Heads) -> Result<()> {
        let mut conn = Conn::sqlite(&self.conn);
        for (tenant, head) in &heads.events {
            events::set_head(&mut conn, *tenant, *head)?;
        }
        for (tenant, newest) in &heads.acts {
            let key = self.seal.key()?;
            let seal = key.seal(*tenant, End::Newest, newest);
            let start = key.seal(*tenant, End::Trimmed, &Link::default());
            audit::set_newest(&mut conn, *tenant, newest, &seal, &start)?;
        }
        Ok(())
    }

    fn store_events(&self, outcomes: &[Outcome], renames: &[Rename]) -> Result<()> {
        let logged = outcomes.iter().flatten().flatten();
        let events: Vec<_> = logged.map(|(tenant, logged)| (*tenant, &logged.event)).collect();
        events::insert_all(&self.conn, &events)?;
        moments::note(&self.conn, &events)?;
        // Who is erased must not come back by what was on its way.
        let mut conn = Conn::sqlite(&self.conn);
        renames.iter().try_for_each(|rename| events::rename_actor(&mut conn, rename).map(drop))
    }

    /// Tells everybody what was committed: first those who listen, then those who asked.
    fn answer(&mut self, batch: Vec<Box<dyn Job>>, outcomes: Vec<Outcome>, heads: Heads) {
        self.heads.extend(Heads { renames: Vec::new(), ..heads });
        let mut by_tenant: BTreeMap<TenantId, Vec<Arc<Logged>>> = BTreeMap::new();
        for (tenant, logged) in outcomes.iter().flatten().flatten() {
            by_tenant.entry(*tenant).or_default().push(Arc::clone(logged));
        }
        for (tenant, events) in by_tenant {
            self.hub.publish(tenant, &events);
        }
        for (job, outcome) in batch.into_iter().zip(outcomes) {
            job.finish(outcome.map(|logged| logged.into_iter().map(|(_, event)| event).collect()));
        }
    }

    fn move_if_large(&mut self) {
        // A checkpoint that does nothing tells the size of the log for next to nothing.
        let pages = self
            .conn
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
            .and_then(|mut noop| noop.query_row([], |row| row.get::<_, i64>(1)));
        let bytes = pages.unwrap_or(0) * self.page_bytes;
        if bytes > LOG_MAX_BYTES {
            self.mover.wait();
            self.move_log();
        } else if bytes > CHECKPOINT_BYTES {
            self.mover.begin();
        }
    }

    /// Moves the log into the database. If nothing is left in it, the next batch begins it anew.
    fn move_log(&mut self) {
        match mover::checkpoint(&self.conn, "PASSIVE") {
            Ok(left) => self.tell_of_readers(left * self.page_bytes),
            Err(error) => {
                tracing::warn!(%error, "a checkpoint failed; it is tried again after some batches");
            }
        }
    }

    /// Tells people, once, that somebody reads for so long that the log cannot begin anew.
    fn tell_of_readers(&mut self, bytes: i64) {
        let held = bytes > LOG_MAX_BYTES;
        if held && !self.held {
            tracing::warn!(
                bytes,
                "somebody reads an old state of the database, and its log grows until that ends"
            );
        } else if self.held && !held {
            tracing::info!("the log of the database can begin anew");
        }
        self.held = held;
    }
}

/// What waits in the queue, one job after the other.
///
/// Those who were answered a moment ago get the chance to come back: without it the first of them
/// would have an fsync of its own while the others queue behind. On an idle machine a yield returns
/// at once, so nobody waits for nothing.
struct Arriving<'q> {
    jobs: &'q mut mpsc::Receiver<Box<dyn Job>>,
    first: Option<Box<dyn Job>>,
    taken: usize,
    /// How many the last batch had.
    usual: usize,
}

impl Iterator for Arriving<'_> {
    type Item = Box<dyn Job>;

    fn next(&mut self) -> Option<Box<dyn Job>> {
        const QUIET_YIELDS: usize = 3;
        let mut next = self.first.take();
        let mut quiet = 0;
        while next.is_none() && self.taken < BATCH_MAX_JOBS {
            next = self.jobs.try_recv().ok();
            if next.is_none() {
                if self.taken >= self.usual || quiet > QUIET_YIELDS {
                    return None;
                }
                quiet += 1;
                std::thread::yield_now();
            }
        }
        self.taken += usize::from(next.is_some());
        next
    }
}

/// Answers all with the same error.
fn fail_all(jobs: impl IntoIterator<Item = Box<dyn Job>>, error: &Error) {
    tracing::error!(error = %error, cause = ?std::error::Error::source(error), "a commit failed");
    for job in jobs {
        job.finish(Err(error.again()));
    }
}

/// Ends the process if the disk failed during a commit.
fn stop_if_disk_failed(error: &Error) {
    let source = std::error::Error::source(error);
    let code = source
        .and_then(|cause| cause.downcast_ref::<rusqlite::Error>())
        .and_then(rusqlite::Error::sqlite_error)
        .map(|error| error.code);
    if code == Some(rusqlite::ffi::ErrorCode::SystemIoFailure) {
        mover::stop();
    }
}

#[cfg(test)]
mod tests;
