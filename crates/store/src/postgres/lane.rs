//! Lanes: threads that each own a connection and take what waits in the shared queue.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use godel_model::{AuditEntry, EventId, NewEvent, TenantId};

use super::Queue;
use super::append::{append, append_acts, lock_head, note};
use super::follower::Bell;
use super::outcome::{Row, Trace};
use super::session::Session;
use crate::fault::fault;
use crate::hub::{Hub, Logged};
use crate::job::Job;
use crate::seal::Seal;
use crate::statement::Conn;
use crate::{Error, Result, Scope, Tx};

/// How many jobs share one commit, at most.
const BATCH_MAX_JOBS: usize = 64;
/// How long a lane tries to reach the database before it tells those who wait.
const PATIENCE: Duration = Duration::from_secs(10);
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// How often a transaction is tried that the database asked to repeat.
const TRIES_MAX: usize = 5;

/// A connection that comes back by itself.
#[derive(Debug)]
struct Line {
    url: String,
    session: Option<Session>,
    /// Since when the database cannot be reached.
    away: Option<Instant>,
}

impl Line {
    fn new(url: &str) -> Self {
        Self { url: url.to_owned(), session: None, away: None }
    }

    /// Returns a connection that works as far as known, or gives up at the deadline; at once if others
    /// have waited in vain for so long.
    fn session(&mut self, deadline: Instant) -> Result<&mut Session> {
        if self.session.as_ref().is_some_and(Session::is_closed) {
            self.session = None;
        }
        while self.session.is_none() {
            match Session::open(&self.url) {
                Ok(session) => (self.session, self.away) = (Some(session), None),
                Err(error @ Error::Unavailable(_)) => {
                    let away = self.away.get_or_insert_with(Instant::now).elapsed();
                    if away >= PATIENCE || Instant::now() >= deadline {
                        return Err(error);
                    }
                    std::thread::sleep(RECONNECT_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
        self.session.as_mut().ok_or(Error::Unavailable(None))
    }
}

/// The text that opens a transaction or a part of it in the given scope.
pub(super) fn enter(scope: Scope) -> String {
    match scope {
        // The id is a UUID, so nothing in it can be taken for SQL.
        Scope::Tenant(tenant) => {
            format!("SET LOCAL ROLE godel_app; SET LOCAL app.tenant = '{tenant}';")
        }
        Scope::System => "SET LOCAL ROLE godel_system;".to_owned(),
    }
}

/// Like [`enter`], from within another scope: nothing, if it is the same.
fn enter_from(inside: Option<Scope>, scope: Scope) -> String {
    if inside == Some(scope) { String::new() } else { enter(scope) }
}

/// Takes the first job and, up to `most`, what else waits.
fn take(queue: &Queue, most: usize) -> Vec<Box<dyn Job>> {
    let mut jobs = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(first) = jobs.blocking_recv() else {
        return Vec::new();
    };
    let mut taken = vec![first];
    while taken.len() < most {
        let Ok(job) = jobs.try_recv() else { break };
        taken.push(job);
    }
    taken
}

/// Runs reads.
#[derive(Debug)]
pub(super) struct ReadLane {
    line: Line,
}

impl ReadLane {
    pub(super) fn new(url: &str) -> Self {
        Self { line: Line::new(url) }
    }

    pub(super) fn run(mut self, queue: &Queue) {
        loop {
            let Some(mut job) = take(queue, 1).pop() else {
                return;
            };
            if !job.abandoned() {
                let read = self.read(job.as_mut());
                job.finish(read.map(|()| Vec::new()));
            }
        }
    }

    fn read(&mut self, job: &mut dyn Job) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let session = self.line.session(deadline)?;
            session.retry = false;
            let begin =
                format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {}", enter(job.scope()));
            let begun = session.batch("begin", &begin);
            if begun.is_ok() {
                job.run(&mut Tx::new(Conn::Postgres(session), job.scope(), false));
            }
            let ended = session.batch("commit", "COMMIT");
            if !session.retry || Instant::now() >= deadline {
                return begun.and(ended);
            }
            self.line.session = None;
        }
    }
}

/// Runs writes, several in one transaction.
#[derive(Debug)]
pub(super) struct WriteLane {
    line: Line,
    hub: Arc<Hub>,
    bell: Bell,
    seal: Arc<Seal>,
}

/// What a transaction brought.
#[derive(Debug, Default)]
struct Ran {
    /// For each job its events, as tenant and place among that tenant's; `None` if it was undone.
    jobs: Vec<Option<Vec<(TenantId, usize)>>>,
    drafts: BTreeMap<TenantId, Vec<NewEvent>>,
    acts: BTreeMap<TenantId, Vec<AuditEntry>>,
    /// Which of the events leave a receipt under which idempotency key.
    receipts: Vec<(EventId, String)>,
    logged: BTreeMap<TenantId, Vec<Arc<Logged>>>,
    /// By what the transaction can be found again.
    trace: Option<Trace>,
}

/// Why a transaction did not go through.
enum Failed {
    /// Nothing was committed, and another try may work.
    Again(Error),
    /// Nothing was committed.
    Final(Error),
    /// The connection broke during the commit.
    Unknown(Box<Ran>, Error),
}

impl WriteLane {
    pub(super) fn new(url: &str, hub: Arc<Hub>, bell: Bell, seal: Arc<Seal>) -> Self {
        Self { line: Line::new(url), hub, bell, seal }
    }

    pub(super) fn run(mut self, queue: &Queue) {
        loop {
            let mut jobs = take(queue, BATCH_MAX_JOBS);
            if jobs.is_empty() {
                return;
            }
            jobs.retain(|job| !job.abandoned());
            if !jobs.is_empty() {
                self.commit(jobs);
            }
        }
    }

    /// Commits all jobs together; what keeps failing together is tried one by one.
    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let deadline = Instant::now() + PATIENCE;
        let mut tries = 0;
        loop {
            tries += 1;
            let patient = tries < TRIES_MAX && Instant::now() < deadline;
            match self.attempt(&mut jobs, deadline) {
                Ok(ran) => return self.answer(jobs, &ran),
                Err(Failed::Again(_)) if patient => {
                    // A deadlock comes from what the jobs lock together: apart they cannot.
                    if jobs.len() > 1 && tries > 1 {
                        return jobs.into_iter().for_each(|job| self.commit(vec![job]));
                    }
                }
                Err(Failed::Again(error) | Failed::Final(error)) => return fail_all(jobs, &error),
                Err(Failed::Unknown(ran, error)) => {
                    match self.was_committed(ran.trace.as_ref(), deadline) {
                        Some(true) => return self.answer(jobs, &ran),
                        Some(false) if patient => {}
                        Some(false) => return fail_all(jobs, &error),
                        None => {
                            let unknown = Error::CommitUnknown(Some(error.to_string().into()));
                            return fail_all(jobs, &unknown);
                        }
                    }
                }
            }
        }
    }

    fn attempt(&mut self, jobs: &mut [Box<dyn Job>], deadline: Instant) -> Result<Ran, Failed> {
        let session = self.line.session(deadline).map_err(Failed::Final)?;
        session.retry = false;
        session.floors.undo();
        let mut ran = Ran::default();
        fault("store-before-begin");
        if let Err(error) = run_all(session, jobs, &mut ran, &self.seal) {
            let again = session.retry;
            if session.batch("rollback", "ROLLBACK").is_err() {
                self.line.session = None;
            }
            return Err(if again { Failed::Again(error) } else { Failed::Final(error) });
        }
        fault("store-before-commit");
        let committed = session.batch("commit", "COMMIT");
        fault("store-committed");
        match committed {
            Ok(()) => {
                session.floors.keep();
                Ok(ran)
            }
            Err(error @ Error::Unavailable(_)) => {
                self.line.session = None;
                Err(Failed::Unknown(Box::new(ran), error))
            }
            Err(error) => Err(Failed::Final(error)),
        }
    }

    /// Asks what became of a transaction whose commit was not answered.
    fn was_committed(&mut self, trace: Option<&Trace>, deadline: Instant) -> Option<bool> {
        let trace = trace?;
        loop {
            match trace.was_committed(self.line.session(deadline).ok()?) {
                Ok(Some(committed)) => return Some(committed),
                Ok(None) => {}
                // The connection broke again.
                Err(_) => self.line.session = None,
            }
            if Instant::now() >= deadline {
                return None;
            }
            std::thread::sleep(RECONNECT_PAUSE);
        }
    }

    /// Tells everybody what was committed: those who listen here, those who asked, other servers.
    fn answer(&self, jobs: Vec<Box<dyn Job>>, ran: &Ran) {
        for (tenant, events) in &ran.logged {
            self.hub.publish(*tenant, events);
        }
        for (job, places) in jobs.into_iter().zip(&ran.jobs) {
            let events = places.iter().flatten().filter_map(|(tenant, place)| {
                ran.logged.get(tenant).and_then(|events| events.get(*place)).map(Arc::clone)
            });
            job.finish(Ok(events.collect()));
        }
        for tenant in ran.logged.keys() {
            self.bell.ring(*tenant);
        }
    }
}

/// Runs the jobs one after the other, and appends what they recorded at the end. Several are under a savepoint
/// each; one alone needs none, and none is not free.
fn run_all(
    session: &mut Session,
    jobs: &mut [Box<dyn Job>],
    ran: &mut Ran,
    seal: &Seal,
) -> Result<()> {
    let begin = format!("{} BEGIN;", session.replan());
    let (mut prefix, mut inside) = (begin.as_str(), None);
    let (save, keep_it, undo_it) = match jobs {
        [_] => ("", "", "ROLLBACK; BEGIN;"),
        _ => (
            "SAVEPOINT job;",
            "RELEASE SAVEPOINT job;",
            "ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job;",
        ),
    };
    for job in jobs {
        let enter = enter_from(inside, job.scope());
        session.batch("savepoint", &format!("{prefix} {save} {enter}"))?;
        fault("store-begun");
        session.broken = false;
        let mut tx = Tx::new(Conn::Postgres(session), job.scope(), true);
        let keep = job.run(&mut tx);
        let drafts = tx.take_drafts();
        drop(tx);
        if session.retry {
            return Err(Error::Unavailable(None));
        }
        // The database would answer a commit of it as if all was well.
        if keep && session.broken {
            let cause = "a statement failed before, and nobody minded".into();
            return Err(Error::Failed { statement: "commit", cause });
        }
        prefix = if keep { keep_it } else { undo_it };
        // What is undone is undone with the settings that were made for it.
        inside = keep.then_some(job.scope());
        if keep {
            for (tenant, act) in drafts.acts {
                ran.acts.entry(tenant).or_default().push(act);
            }
            ran.receipts.extend(drafts.receipts);
        } else {
            session.floors.undo();
        }
        ran.jobs.push(keep.then(|| {
            drafts
                .events
                .into_iter()
                .map(|(tenant, draft)| {
                    let own = ran.drafts.entry(tenant).or_default();
                    own.push(draft);
                    (tenant, own.len() - 1)
                })
                .collect()
        }));
    }
    append_all(session, ran, seal, (prefix, inside))
}

/// Appends events, then acts. Tenants come in order in both, so two lanes never wait for each other
/// in a circle.
fn append_all(
    session: &mut Session,
    ran: &mut Ran,
    seal: &Seal,
    (first, inside): (&str, Option<Scope>),
) -> Result<()> {
    let (mut prefix, mut inside) = (first, inside);
    for (tenant, drafts) in std::mem::take(&mut ran.drafts) {
        let scope = Scope::Tenant(tenant);
        lock_head(session, tenant, &format!("{prefix}{}", enter_from(inside, scope)))?;
        (prefix, inside) = ("", Some(scope));
        let (base, xid) = append(session, tenant, &drafts)?;
        ran.trace = drafts.first().map(|draft| {
            let row = Row::Event(draft.id);
            Trace { xid, tenant, seq: base.0 + 1, row }
        });
        let positions = (base.0 + 1..).map(godel_model::Seq);
        let logged =
            drafts.into_iter().zip(positions).map(|(draft, seq)| Logged::new(draft.at_seq(seq)));
        let logged: Vec<_> = logged.collect();
        note(session, tenant, &logged, &ran.receipts)?;
        ran.logged.insert(tenant, logged);
    }
    for (tenant, acts) in std::mem::take(&mut ran.acts) {
        let scope = Scope::Tenant(tenant);
        let first = format!("{prefix}{}", enter_from(inside, scope));
        if !first.is_empty() {
            session.batch("savepoint", &first)?;
        }
        (prefix, inside) = ("", Some(scope));
        ran.trace = append_acts(session, tenant, acts, seal.key()?)?.or(ran.trace.take());
    }
    if !prefix.is_empty() {
        session.batch("savepoint", prefix)?;
    }
    Ok(())
}

/// Answers all with the same error.
fn fail_all(jobs: Vec<Box<dyn Job>>, error: &Error) {
    tracing::error!(error = %error, cause = ?std::error::Error::source(error), "a commit failed");
    for job in jobs {
        job.finish(Err(error.again()));
    }
}
