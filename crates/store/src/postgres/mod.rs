//! PostgreSQL: a few lanes that each own a connection and group what waits, and a follower that
//! hears of what other servers committed.

mod address;
mod append;
mod backup;
mod floors;
mod follower;
pub(crate) mod holders;
mod lane;
mod outcome;
mod roles;
mod schema;
pub(crate) mod session;
mod tls;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

pub(crate) use self::address::Address;
pub(crate) use self::backup::{backup, restore};
pub(crate) use self::schema::{migrate, schema};
use self::session::Session;
use crate::hub::Hub;
use crate::job::Job;
use crate::seal::Seal;
use crate::{Config, Error, Result, Scope};

/// How many jobs may wait; beyond it callers wait before they may queue.
const QUEUE_MAX_JOBS: usize = 4_096;

/// The queue of one or more lanes: whoever is free takes what waits.
type Queue = Arc<Mutex<mpsc::Receiver<Box<dyn Job>>>>;
type Sender = mpsc::Sender<Box<dyn Job>>;

/// An open PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Engine {
    /// One queue a lane. A tenant always takes the same lane: its writes are grouped there, and
    /// two lanes never wait for each other's rows of one tenant.
    writers: Mutex<Vec<Sender>>,
    readers: Mutex<Option<Sender>>,
    follower: follower::Follower,
    durable: bool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Engine {
    pub(crate) fn open(url: &str, config: &Config, hub: Arc<Hub>, seal: Arc<Seal>) -> Result<Self> {
        let durable = schema::open_migrated(url)?;
        let (readers, read_jobs) = mpsc::channel(QUEUE_MAX_JOBS);
        let read_jobs: Queue = Arc::new(Mutex::new(read_jobs));
        let mut writers = Vec::new();
        let follower = follower::Follower::start(url, Arc::clone(&hub), config.look)?;
        let mut threads = Vec::new();
        for _ in 0..config.lanes.max(1) {
            let lane =
                lane::WriteLane::new(url, Arc::clone(&hub), follower.bell(), Arc::clone(&seal));
            let (writer, jobs) = mpsc::channel(QUEUE_MAX_JOBS);
            let jobs: Queue = Arc::new(Mutex::new(jobs));
            writers.push(writer);
            threads.push(spawn("godel-pg-write", move || lane.run(&jobs))?);
        }
        for _ in 0..config.readers.max(1) {
            let lane = lane::ReadLane::new(url);
            let jobs = Arc::clone(&read_jobs);
            threads.push(spawn("godel-pg-read", move || lane.run(&jobs))?);
        }
        Ok(Self {
            writers: Mutex::new(writers),
            readers: Mutex::new(Some(readers)),
            follower,
            durable,
            threads: Mutex::new(threads),
        })
    }

    pub(crate) fn durable(&self) -> bool {
        self.durable
    }

    /// Returns the way to the lane of a scope; after closing, one that leads nowhere.
    pub(crate) fn writer(&self, scope: Scope) -> Sender {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = match scope {
            Scope::System => 0,
            Scope::Tenant(tenant) => tenant.uuid().as_u128() as usize % writers.len().max(1),
        };
        writers.get(lane).cloned().unwrap_or_else(|| mpsc::channel(1).0)
    }

    pub(crate) fn readers(&self) -> Sender {
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.clone().unwrap_or_else(|| mpsc::channel(1).0)
    }

    /// Finishes the queues, then disconnects.
    pub(crate) fn close(&self) {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        drop(self.readers.lock().unwrap_or_else(PoisonError::into_inner).take());
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a database lane ended unexpectedly");
            }
        }
        self.follower.close();
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|cause| Error::Unavailable(Some(cause.into())))
}

/// Lets the database check every statement; returns how many there are.
pub(crate) fn check_statements(url: &str) -> Result<usize> {
    let mut session = Session::open(url)?;
    let own = [
        ("stream_head_lock", append::LOCK_HEAD),
        ("event_append", append::APPEND),
        ("audit_append", append::APPEND_ACTS),
        ("audit_head_lock", append::LOCK_CHAIN),
        ("audit_head_begin", append::BEGIN_CHAIN),
        ("idempotency_notes", append::NOTE),
        ("stream_heads", follower::HEADS),
        ("transaction_status", outcome::STATUS),
        ("transaction_row", outcome::EVENT),
        ("transaction_row", outcome::ACT),
        ("clock", session::CLOCK),
    ];
    let own = own.into_iter().chain(crate::tables::tasks::ONLY_POSTGRES.iter().copied());
    let shared = crate::tables::statements().map(|statement| (statement.name, statement.postgres));
    let all: Vec<_> = own.chain(shared).collect();
    all.iter().try_for_each(|(name, text)| session.check(name, text))?;
    Ok(all.len())
}
