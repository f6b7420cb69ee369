//! Events of about 500 bytes, and stores that are full of them.

use std::path::Path;

use godel_model::{
    Clock as _, EventType, Metadata, Mint, NewEvent, Payload, Source, SystemClock, Tenant, TenantId,
};
use godel_store::{Config, DatabaseUrl, Error as StoreError, Scope, Store};
use tokio::task::JoinSet;

use crate::error::{Error, Result, Told as _};

/// How many events one transaction of a filling carries.
const FILL_CHUNK_EVENTS: usize = 2_000;

/// The type of all events of the benchmarks.
pub(crate) const KIND: &str = "agent:output";

/// Text that brings an event to about 500 bytes as a client gets it.
pub(crate) const NOTE: &str = "compiled 3 crates, ran 128 tests in 4.2 s, none failed; the change \
    touches the parser and its table of precedence, and the two tests that pinned the old order";

/// Returns the payload of an event: what a working agent might tell.
pub(crate) fn payload(number: usize) -> String {
    format!(r#"{{"n":{number},"sentAt":0,"agent":"builder-7","ok":true,"note":"{NOTE}"}}"#)
}

/// Makes an event as the API would: with who acted and the trace.
pub(crate) fn draft(number: usize) -> Result<NewEvent> {
    Ok(NewEvent {
        id: Mint::system().id(),
        kind: EventType::known(KIND),
        at: SystemClock.now(),
        source: Source::component("api"),
        payload: Payload::from_stored(payload(number)).told("make a payload")?,
        metadata: Metadata {
            actor: Some("key:owner".to_owned()),
            trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned()),
            ..Metadata::default()
        },
    })
}

/// An open store with a tenant to write for.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) store: Store,
    pub(crate) tenant: TenantId,
}

impl Log {
    /// Opens a store; the first tenant is made if there is none.
    pub(crate) async fn open(url: DatabaseUrl) -> Result<Self> {
        let tried = "open a store";
        let store = Store::open(&Config::new(url)).await.told(tried)?;
        let listed: Vec<Tenant> =
            store.read(Scope::System, |tx| tx.tenants().list()).await.told(tried)?;
        if let Some(tenant) = listed.first() {
            let tenant = tenant.id;
            return Ok(Self { store, tenant });
        }
        let tenant = Tenant {
            id: Mint::system().id(),
            name: "bench".parse().told(tried)?,
            created_at: SystemClock.now(),
            disabled_at: None,
        };
        let id = tenant.id;
        let work = move |tx: &mut godel_store::Tx<'_>| tx.tenants().insert(&tenant);
        store.write(Scope::System, work).await.told(tried)?;
        Ok(Self { store, tenant: id })
    }

    /// Opens a SQLite store.
    pub(crate) async fn open_file(path: &Path) -> Result<Self> {
        Self::open(DatabaseUrl::Sqlite(path.to_owned())).await
    }

    /// Adds many events, many at a time.
    pub(crate) async fn fill(&self, count: usize) -> Result<()> {
        let mut done = 0;
        while done < count {
            let chunk = FILL_CHUNK_EVENTS.min(count - done);
            let drafts = (done..done + chunk).map(draft).collect::<Result<Vec<_>>>()?;
            let work = move |tx: &mut godel_store::Tx<'_>| {
                drafts.iter().try_for_each(|draft| tx.record(draft.clone()))
            };
            let scope = Scope::Tenant(self.tenant);
            self.store.write(scope, work).await.told("fill a store")?;
            done += chunk;
        }
        Ok(())
    }

    /// Adds one event, durably.
    pub(crate) async fn append(&self, number: usize) -> Result<()> {
        let draft = draft(number)?;
        let work = move |tx: &mut godel_store::Tx<'_>| tx.record(draft.clone());
        let scope = Scope::Tenant(self.tenant);
        let written = self.store.write::<_, StoreError, _>(scope, work).await;
        written.told("append an event")?;
        Ok(())
    }

    /// Lets many writers at the same time add one event after the other.
    pub(crate) async fn append_together(&self, writers: usize, each: usize) -> Result<()> {
        let mut tasks = JoinSet::new();
        for _ in 0..writers {
            let log = self.clone();
            tasks.spawn(async move {
                for number in 0..each {
                    log.append(number).await?;
                }
                Ok::<_, Error>(())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.told("finish a writer")??;
        }
        Ok(())
    }

    /// Closes the store; its file is whole afterwards.
    pub(crate) async fn close(self) {
        self.store.close().await;
    }
}
