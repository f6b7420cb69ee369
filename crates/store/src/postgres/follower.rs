//! The follower: hears of what other servers committed, and tells them what was committed here.
//!
//! Wake-ups are hints. They are sent outside of any transaction and at most once in 10 ms; a lost
//! one costs latency only, because the follower also looks at the heads of the logs by itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use godel_model::{EventFilter, Seq, TenantId};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator as _;
use uuid::Uuid;

use super::session::{Session, connect};
use super::spawn;
use crate::hub::{Hub, Logged};
use crate::statement::Conn;
use crate::{Direction, Error, Result, Scope, Tx};

/// Reads the heads of several logs.
pub(super) const HEADS: &str = "
    SELECT h.tenant, GREATEST(h.seq, (SELECT e.seq FROM event e WHERE e.tenant = h.tenant
                                      ORDER BY e.seq DESC LIMIT 1))
    FROM stream_head h WHERE h.tenant = ANY($1::uuid[])";

/// The event that tells that a person's name was taken out of the events before it.
const ERASED: &str = "user:erase";
const CHANNEL: &str = "godel_events";
/// How many commits may wait to be told to other servers.
const RINGS_MAX: usize = 4_096;
const COALESCE: Duration = Duration::from_millis(10);
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// How long it takes at most until who listens notices that it is to stop.
const LISTEN_MAX: Duration = Duration::from_millis(300);
/// How many events one step of catching up reads.
const CATCH_UP_EVENTS: usize = 500;

/// Rings when this server committed something.
#[derive(Debug, Clone)]
pub(super) struct Bell(mpsc::SyncSender<TenantId>);

impl Bell {
    pub(super) fn ring(&self, tenant: TenantId) {
        // If it is not heard, the other servers find out by looking.
        if self.0.try_send(tenant).is_err() {
            tracing::debug!("other servers are not called for this commit");
        }
    }
}

/// The two threads that keep servers in step.
#[derive(Debug)]
pub(super) struct Follower {
    bell: Mutex<Option<Bell>>,
    stop: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Follower {
    pub(super) fn start(url: &str, hub: Arc<Hub>, pause: Duration) -> Result<Self> {
        let (bell, rings) = mpsc::sync_channel(RINGS_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let caller = Caller { url: url.to_owned(), client: None };
        let listener = Listener { url: url.to_owned(), hub, pause, stop: Arc::clone(&stop) };
        let threads = vec![
            spawn("godel-pg-notify", move || caller.run(&rings))?,
            spawn("godel-pg-listen", move || listener.run())?,
        ];
        Ok(Self { bell: Mutex::new(Some(Bell(bell))), stop, threads: Mutex::new(threads) })
    }

    pub(super) fn bell(&self) -> Bell {
        let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        bell.clone().unwrap_or_else(|| Bell(mpsc::sync_channel(1).0))
    }

    pub(super) fn close(&self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.bell.lock().unwrap_or_else(PoisonError::into_inner).take());
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the follower ended unexpectedly");
            }
        }
    }
}

/// Tells other servers.
struct Caller {
    url: String,
    client: Option<Client>,
}

impl Caller {
    fn run(mut self, rings: &mpsc::Receiver<TenantId>) {
        while let Ok(first) = rings.recv() {
            let mut tenants = BTreeSet::from([first]);
            let end = Instant::now() + COALESCE;
            loop {
                let left = end.saturating_duration_since(Instant::now());
                match rings.recv_timeout(left) {
                    Ok(tenant) => drop(tenants.insert(tenant)),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
            if let Err(error) = self.call(&tenants) {
                tracing::debug!(%error, "other servers were not woken; they will look by themselves");
                self.client = None;
            }
        }
    }

    fn call(&mut self, tenants: &BTreeSet<TenantId>) -> Result<()> {
        let client = match &mut self.client {
            Some(client) => client,
            None => self.client.insert(connect(&self.url)?),
        };
        let ids: Vec<String> = tenants.iter().map(ToString::to_string).collect();
        client
            .execute("SELECT pg_notify($1, id) FROM unnest($2::text[]) AS id", &[&CHANNEL, &ids])
            .map_err(|cause| Error::postgres("notify", cause))?;
        Ok(())
    }
}

/// Hears from other servers, and looks by itself from time to time.
struct Listener {
    url: String,
    hub: Arc<Hub>,
    /// How long it hears nothing until it looks, on average.
    pause: Duration,
    stop: Arc<AtomicBool>,
}

impl Listener {
    fn run(self) {
        while !self.stop.load(Ordering::Relaxed) {
            if let Err(error) = self.listen() {
                tracing::debug!(%error, "listening is interrupted");
                std::thread::sleep(RECONNECT_PAUSE);
            }
        }
    }

    fn listen(&self) -> Result<()> {
        let mut ears = connect(&self.url)?;
        let listen = ears.batch_execute("LISTEN godel_events");
        listen.map_err(|cause| Error::postgres("listen", cause))?;
        let mut eyes = Session::open(&self.url)?;
        let mut next = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            let left = next.saturating_duration_since(Instant::now());
            let heard = ears.notifications().timeout_iter(left.min(LISTEN_MAX)).next();
            let heard = heard.map_err(|cause| Error::postgres("listen", cause))?.is_some();
            // Whatever else was said meanwhile is covered by the same look.
            let mut rest = ears.notifications();
            while rest.iter().next().map_err(|cause| Error::postgres("listen", cause))?.is_some() {}
            if heard || Instant::now() >= next {
                self.look(&mut eyes)?;
                // Half of the pause is chance, so that servers do not look all at once.
                next = Instant::now() + self.pause.mul_f64(rand::random_range(0.5..1.5));
            }
        }
        Ok(())
    }

    /// Brings every stream to which somebody listens up to the head of its log.
    fn look(&self, session: &mut Session) -> Result<()> {
        let listening = self.hub.listening();
        if listening.is_empty() {
            return Ok(());
        }
        let tenants: Vec<Uuid> = listening.iter().map(|(tenant, _)| tenant.uuid()).collect();
        session.batch("begin", "BEGIN READ ONLY; SET LOCAL ROLE godel_system;")?;
        let rows = session.query_raw("stream_heads", HEADS, &[&tenants])?;
        session.batch("commit", "COMMIT")?;
        for row in rows {
            let tenant = TenantId::from(row.get::<_, Uuid>(0));
            let head = Seq(row.get(1));
            let known = listening.iter().find(|(id, _)| *id == tenant).map(|(_, known)| *known);
            if known.is_some_and(|known| known < head) {
                self.catch_up(session, tenant, head)?;
            }
        }
        Ok(())
    }

    fn catch_up(&self, session: &mut Session, tenant: TenantId, head: Seq) -> Result<()> {
        let stream = self.hub.stream(tenant);
        loop {
            // This server's own lanes publish too, so the gap may close by itself meanwhile.
            let from = stream.head().unwrap_or(head);
            if from >= head || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            session.batch(
                "begin",
                &format!(
                    "BEGIN READ ONLY; SET LOCAL ROLE godel_app;
                     SET LOCAL app.tenant = '{tenant}';"
                ),
            )?;
            let mut tx = Tx::new(Conn::Postgres(session), Scope::Tenant(tenant), false);
            let all = EventFilter::all();
            let (_, trimmed) = tx.events().bounds()?;
            let page = tx.events().page(&all, Direction::Forward, from, CATCH_UP_EVENTS)?;
            drop(tx);
            session.batch("commit", "COMMIT")?;
            if trimmed > from {
                // Retention was faster than this server: those who wait are told of the gap.
                stream.restart_at(trimmed);
                continue;
            }
            if page.events.is_empty() {
                return Ok(());
            }
            let erased = page.events.iter().rev().find(|event| event.kind.as_str() == ERASED);
            let erased = erased.map(|event| event.seq);
            let events: Vec<_> = page.events.into_iter().map(Logged::new).collect();
            self.hub.publish(tenant, &events);
            // What is in memory still has the name; the database has not.
            erased.into_iter().for_each(|upto| stream.forget(upto));
        }
    }
}
