//! A server that can be stopped at any moment, on a store of its own, in a time of its own.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use godel_app::queue::{Author, Keeper, Say, Steady, start};
use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Call, Crew, Origin};
use godel_model::{Actor, Clock as _, Mint, Role, Tenant, TenantId, TestClock, micros};
use godel_store::{Config, DatabaseUrl, Durability, Fence, Scope, Store, Tx};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::stage::MASTER;

/// A store with a tenant as it is before anything has happened, to be copied.
struct Template {
    dir: TempDir,
    tenant: TenantId,
}

static TEMPLATE: OnceLock<Template> = OnceLock::new();
const FILE: &str = "godel.db";
const CLEAR: &str = "BEGIN;
    DELETE FROM ready; DELETE FROM delayed; DELETE FROM blocked; DELETE FROM lease;
    DELETE FROM outcome; DELETE FROM attempt; DELETE FROM dependency; DELETE FROM task_deadline;
    DELETE FROM task_news; DELETE FROM task; DELETE FROM lane; DELETE FROM pool;
    DELETE FROM worker; DELETE FROM event; DELETE FROM stream_head; DELETE FROM audit;
    DELETE FROM audit_head; DELETE FROM tenant;
    COMMIT;";

/// Where files are: in memory if the machine has such a place, because nothing here is about disks.
fn base() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

fn directory() -> TempDir {
    TempDir::with_prefix_in("godel-simulation-", base()).unwrap()
}

fn config(dir: &Path) -> Config {
    let url = DatabaseUrl::Sqlite(dir.join(FILE));
    Config { durability: Durability::Relaxed, readers: 1, ..Config::new(url) }
}

fn start_of_time() -> Timestamp {
    "2026-01-15T10:30:00Z".parse().unwrap()
}

fn caller(tenant: TenantId) -> Call {
    let actor = Actor {
        tenant,
        home: true,
        user: Mint::system().id(),
        name: "user:test".to_owned(),
        role: Role::Admin,
        scopes: [].into(),
        projects: [].into(),
        key: Some(Mint::system().id()),
        session: None,
    };
    Call { actor: actor.into(), trace_id: None, once: None, origin: Origin::default() }
}

fn tenant() -> Tenant {
    Tenant {
        id: Mint::system().id(),
        name: "first".parse().unwrap(),
        created_at: start_of_time(),
        disabled_at: None,
    }
}

async fn make_template() -> Template {
    let dir = directory();
    let store = Store::open(&config(dir.path())).await.unwrap();
    let tenant = tenant();
    let id = tenant.id;
    store.write(Scope::System, move |tx| tx.tenants().insert(&tenant)).await.unwrap();
    let clock = Arc::new(TestClock::at(start_of_time()));
    let master = MasterKey::new(MASTER);
    App::open(store.clone(), None, clock, AppConfig::default(), &master).await.unwrap();
    store.close().await;
    Template { dir, tenant: id }
}

/// Copies a database with all that belongs to it.
pub(super) fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(to).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A server that can be stopped at any moment.
pub(super) struct Stage {
    pub(super) app: App,
    pub(super) call: Call,
    pub(super) tenant: TenantId,
    pub(super) clock: Arc<TestClock>,
    pub(super) dir: TempDir,
    /// A look into the tables without any code of the product.
    pub(super) tables: Connection,
    keeper: Keeper,
    /// How much time has passed, in microseconds, whatever the clock on the wall says.
    passed: Arc<AtomicU64>,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let template = match TEMPLATE.get() {
            Some(template) => template,
            None => {
                let made = make_template().await;
                TEMPLATE.get_or_init(|| made)
            }
        };
        let dir = directory();
        copy(template.dir.path(), dir.path());
        let clock = Arc::new(TestClock::at(start_of_time()));
        let passed = Arc::new(AtomicU64::new(0));
        let (app, keeper) = open(dir.path(), &clock, &passed).await;
        let (tenant, call) = (template.tenant, caller(template.tenant));
        let tables = Connection::open(dir.path().join(FILE)).unwrap();
        tables.busy_timeout(Duration::from_secs(20)).unwrap();
        Self { app, call, tenant, clock, dir, tables, keeper, passed }
    }

    /// Begins anew with another tenant, on the same store: to open one takes longer than a life.
    pub(super) async fn clear(&mut self) {
        self.settle().await;
        self.tables.execute_batch(CLEAR).unwrap();
        self.clock.advance(start_of_time().duration_since(self.clock.now()));
        let tenant = tenant();
        self.tenant = tenant.id;
        self.call = caller(tenant.id);
        let work = move |tx: &mut Tx<'_>| tx.tenants().insert(&tenant);
        assert!(self.app.store.write(Scope::System, work).await.unwrap().value);
        self.keeper = keeper(&self.app, &self.passed);
    }

    /// What the clock on the wall says.
    pub(super) fn now(&self) -> i64 {
        micros(self.clock.now())
    }

    /// Lets time pass; nothing is done about it yet.
    pub(super) fn tick(&self, by: SignedDuration) {
        self.clock.advance(by);
        let by = u64::try_from(by.as_micros()).unwrap();
        self.passed.fetch_add(by, Ordering::Relaxed);
    }

    /// Sets the clock on the wall.
    pub(super) fn jump(&self, by: SignedDuration) {
        self.clock.advance(by);
    }

    /// Does what is due.
    pub(super) async fn look(&mut self) {
        self.keeper.look().await.unwrap();
    }

    /// Waits until the desk has nothing more to do.
    pub(super) async fn settle(&self) {
        let desk = self.app.desks.of(self.tenant);
        // The first comes behind all that is under way, the second behind what that brought.
        for _ in 0..2 {
            let mint = Mint::system();
            let fence = Fence { task: mint.id(), attempt: 1, worker: mint.id() };
            assert!(desk.say(fence, Say::Released, Author::default()).await.is_err());
        }
    }

    /// Ends the server without a word, and lets something happen to its files before the next one.
    pub(super) async fn restart(&mut self, meanwhile: impl FnOnce(&Path)) {
        self.app.store.close().await;
        meanwhile(&self.dir.path().join(FILE));
        let (app, keeper) = open(self.dir.path(), &self.clock, &self.passed).await;
        (self.app, self.keeper) = (app, keeper);
    }

    /// Reads rows.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl Fn(&rusqlite::Row<'_>) -> T,
    ) -> Vec<T> {
        let mut statement = self.tables.prepare_cached(sql).unwrap();
        let rows = statement.query_map(params, |row| Ok(read(row))).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

async fn open(dir: &Path, clock: &Arc<TestClock>, passed: &Arc<AtomicU64>) -> (App, Keeper) {
    let store = Store::open(&config(dir)).await.unwrap();
    let clock = Arc::clone(clock);
    let master = MasterKey::new(MASTER);
    let app = App::open(store, None, clock, AppConfig::default(), &master).await.unwrap();
    // A server does at its start what is to be done then; afterwards this simulation looks itself.
    let crew = Crew::default();
    start(&app, &crew).await.unwrap();
    assert!(crew.stop(Duration::from_secs(60)).await);
    let keeper = keeper(&app, passed);
    (app, keeper)
}

fn keeper(app: &App, passed: &Arc<AtomicU64>) -> Keeper {
    let passed = Arc::clone(passed);
    let steady: Steady = Arc::new(move || Duration::from_micros(passed.load(Ordering::Relaxed)));
    Keeper::paced(app.clone(), steady)
}

/// Begins something and leaves before it is answered; the answer if there was one at once.
pub(super) async fn begin<T>(work: impl Future<Output = T>, yields: usize) -> Option<T> {
    let mut work = Box::pin(work);
    for _ in 0..=yields {
        let polled = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
        if let Poll::Ready(done) = polled.await {
            return Some(done);
        }
        tokio::task::yield_now().await;
    }
    None
}
