//! A database dies with a commit it has not heard of, and gives its id to somebody else.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use godel_engines::{Binaries, Places, Postgres};
use godel_model::chain::AuditKey;
use godel_model::{AuditEntry, AuditResult};
use godel_store::{Error, Scope, Tx};
use godel_testkit::{Database, World, postgres_url};

/// How often it is tried to lose a transaction before the database wrote down that it began.
const TRIES: usize = 5;

/// The wire between a store and its database, which can be cut just before a commit.
#[derive(Debug, Default)]
struct Wire {
    /// Whether the next commit is kept back.
    armed: AtomicBool,
    /// Whether one was.
    cut: AtomicBool,
    /// Whether nobody gets through to the database.
    closed: AtomicBool,
    ends: Mutex<Vec<TcpStream>>,
}

impl Wire {
    /// Leads to the port; returns the port to come to.
    fn lead(self: &Arc<Self>, port: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let wire = Arc::clone(self);
        thread::spawn(move || {
            for near in listener.incoming() {
                let near = near.unwrap();
                if wire.closed.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                let (wire, there, back) = (Arc::clone(&wire), clone(&near), clone(&far));
                wire.ends.lock().unwrap().extend([clone(&near), clone(&far)]);
                thread::spawn(move || pump(there, back, |said| wire.passes(said)));
                thread::spawn(move || pump(far, near, |_| true));
            }
        });
        own
    }

    fn passes(&self, said: &[u8]) -> bool {
        let commit = said.windows(6).any(|word| word == b"COMMIT");
        let held = commit && self.armed.swap(false, Ordering::SeqCst);
        if held {
            self.closed.store(true, Ordering::SeqCst);
            self.cut.store(true, Ordering::SeqCst);
        }
        !held
    }

    fn hang_up(&self) {
        for end in self.ends.lock().unwrap().drain(..) {
            end.shutdown(Shutdown::Both).ok();
        }
    }
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().unwrap()
}

fn pump(mut from: TcpStream, mut to: TcpStream, mut passes: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 65_536];
    while let Ok(size @ 1..) = from.read(&mut buffer) {
        // What is kept back waits on an open connection until somebody hangs up.
        if passes(&buffer[..size]) && to.write_all(&buffer[..size]).is_err() {
            break;
        }
    }
}

/// The ids that a database gives to its transactions.
struct Ids(postgres::Client);

impl Ids {
    fn of(url: &str) -> Self {
        Self(postgres::Client::connect(url, postgres::NoTls).unwrap())
    }

    fn next(&mut self) -> i64 {
        let sql = "SELECT pg_current_xact_id()::text::bigint";
        self.0.query_one(sql, &[]).unwrap().get(0)
    }

    fn going_on(&mut self) -> i64 {
        let sql = "SELECT max(backend_xid::text::bigint) FROM pg_stat_activity";
        self.0.query_one(sql, &[]).unwrap().get::<_, Option<i64>>(0).expect("nothing goes on")
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Event,
    Act,
}

/// Loses a commit together with the database, and gives its id to another transaction; tells whether
/// the database gave it out a second time.
fn lose(server: &mut Postgres, wire: &Wire) -> bool {
    while !wire.cut.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
    let lost = Ids::of(&server.url("postgres")).going_on();
    server.kill_postmaster().unwrap();
    wire.hang_up();
    server.restart().unwrap();
    let mut ids = Ids::of(&server.url("postgres"));
    let first = ids.next();
    while ids.next() <= lost {}
    wire.closed.store(false, Ordering::SeqCst);
    first <= lost
}

async fn check(what: What) {
    if postgres_url().is_none() {
        return;
    }
    let start = || Postgres::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut server = tokio::task::spawn_blocking(start).await.unwrap();
    // What has begun is written down at leisure, so that a crash forgets it.
    let lazy = "ALTER SYSTEM SET wal_writer_delay = '10s'";
    godel_testkit::change(&server.url("postgres").parse().unwrap(), lazy);
    tokio::task::block_in_place(|| server.restart().unwrap());
    let wire = Arc::new(Wire::default());
    let through = server
        .url("postgres")
        .replace(&format!(":{}/", server.port()), &format!(":{}/", wire.lead(server.port())));
    let world = World::on(Database::postgres(through)).await;
    world.store.unlock(AuditKey::new([7; 32]));
    for _ in 0..TRIES {
        let before = count(&world, what).await;
        wire.cut.store(false, Ordering::SeqCst);
        wire.armed.store(true, Ordering::SeqCst);
        let write = tokio::spawn(write(&world, what));
        let reused = tokio::task::block_in_place(|| lose(&mut server, &wire));
        write.await.unwrap().unwrap();
        assert_eq!(count(&world, what).await, before + 1, "an answered write is not there");
        if reused {
            return;
        }
    }
    panic!("the database always knew the id of what it lost");
}

fn write(world: &World, what: What) -> impl Future<Output = Result<(), Error>> + Send + use<> {
    let (store, tenant) = (world.store.clone(), world.tenant);
    let draft = world.draft("test:write", "{}");
    let act = AuditEntry {
        at: draft.at,
        user: None,
        action: "test:act".to_owned(),
        resource: "test/1".to_owned(),
        result: AuditResult::Ok,
        trace_id: None,
        detail: "{}".to_owned(),
        personal: None,
    };
    async move {
        let work = move |tx: &mut Tx<'_>| match what {
            What::Event => tx.record(draft.clone()),
            What::Act => tx.record_act(tenant, act.clone()),
        };
        store.write(Scope::Tenant(tenant), work).await.map(drop)
    }
}

async fn count(world: &World, what: What) -> usize {
    if what == What::Event {
        return world.log(world.tenant).await.len();
    }
    let work = |tx: &mut Tx<'_>| tx.audit().forward(0, 1_000);
    world.store.read(Scope::Tenant(world.tenant), work).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_of_events_is_not_taken_for_the_one_that_got_its_id() {
    check(What::Event).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_of_acts_is_not_taken_for_the_one_that_got_its_id() {
    check(What::Act).await;
}
