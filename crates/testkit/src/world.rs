//! A world: a store with a tenant, and a clock that tests move.

use std::collections::BTreeMap;
use std::sync::Arc;

use godel_model::{
    Clock as _, Event, EventFilter, Metadata, Mint, NewEvent, Payload, Seq, Source, Tenant,
    TenantId, TestClock,
};
use godel_store::{Config, Direction, Error, Scope, Store, Written};

use crate::{Database, postgres_url};

/// A store with a tenant, and a clock that tests move.
#[derive(Debug)]
pub struct World {
    /// Which engine it is on.
    pub engine: &'static str,
    /// The store.
    pub store: Store,
    /// The clock.
    pub clock: Arc<TestClock>,
    /// The first tenant.
    pub tenant: TenantId,
    /// How the store was opened.
    pub config: Config,
    /// The database; it goes away with the world.
    pub database: Database,
}

/// Makes a fresh world on each engine.
///
/// Without `cargo xtask test` there may be no PostgreSQL; a line says so, and with `CI=true` it is
/// a failure.
pub async fn worlds() -> Vec<World> {
    let mut worlds = vec![World::on(Database::sqlite()).await];
    match postgres_url() {
        Some(server) => worlds.push(World::on(Database::postgres(server)).await),
        None => eprintln!("skipped on PostgreSQL: no server (run `cargo xtask test`)"),
    }
    worlds
}

impl World {
    /// Opens a store on a database and makes the first tenant.
    pub async fn on(database: Database) -> Self {
        let config = Config::new(database.url());
        let store = Store::open(&config).await.unwrap();
        let clock = Arc::new(TestClock::at("2026-01-15T10:30:00Z".parse().unwrap()));
        let mut world = Self {
            engine: config.url.engine(),
            store,
            clock,
            tenant: Mint::system().id(),
            config,
            database,
        };
        world.tenant = world.new_tenant("first").await;
        world
    }

    /// Makes another tenant.
    pub async fn new_tenant(&self, name: &str) -> TenantId {
        let tenant = Tenant {
            id: Mint::system().id(),
            name: name.parse().unwrap(),
            created_at: self.clock.now(),
            disabled_at: None,
        };
        let id = tenant.id;
        let fresh = self
            .store
            .write(Scope::System, move |tx| tx.tenants().insert(&tenant))
            .await
            .unwrap()
            .value;
        assert!(fresh, "tenant {name} is there already");
        id
    }

    /// Makes an event that is not recorded yet.
    pub fn draft(&self, kind: &str, payload: &str) -> NewEvent {
        NewEvent {
            id: Mint::system().id(),
            kind: kind.parse().unwrap(),
            at: self.clock.now(),
            source: Source::component("test"),
            payload: Payload::from_stored(payload.to_owned()).unwrap(),
            metadata: Metadata { refs: BTreeMap::new(), ..Metadata::default() },
        }
    }

    /// Records one event for a tenant.
    pub async fn append(&self, tenant: TenantId, kind: &str) -> Event {
        let draft = self.draft(kind, "{}");
        let written: Written<()> = self
            .store
            .write(Scope::Tenant(tenant), move |tx| tx.record(draft.clone()))
            .await
            .unwrap();
        written.events[0].event.clone()
    }

    /// Reads a tenant's whole log.
    pub async fn log(&self, tenant: TenantId) -> Vec<Event> {
        self.store
            .read(Scope::Tenant(tenant), |tx| {
                let all = EventFilter::all();
                let (mut from, mut log) = (Seq::START, Vec::new());
                loop {
                    let page = tx.events().page(&all, Direction::Forward, from, 1_000)?;
                    log.extend(page.events);
                    from = page.reached;
                    if !page.more {
                        return Ok::<_, Error>(log);
                    }
                }
            })
            .await
            .unwrap()
    }

    /// Closes the store and opens it again.
    pub async fn restart(&mut self) {
        self.store.close().await;
        self.store = Store::open(&self.config).await.unwrap();
    }
}
