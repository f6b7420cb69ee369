//! The store: one handle, two engines.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_model::chain::AuditKey;
use godel_model::{EventFilter, Seq, TenantId};

use crate::hub::{Hub, Logged};
use crate::job::{self, Answer, Finished, Job, Then, job};
use crate::migrate::SchemaStatus;
use crate::postgres::holders::Holder;
use crate::seal::Seal;
use crate::sqlite::Length;
use crate::tail::Tail;
use crate::{Config, DatabaseUrl, Direction, Error, Result, Scope, Tx, postgres, sqlite};

/// How many events are taken into memory when the newest ones are asked for.
const WARM_EVENTS: usize = 256;

/// A committed change.
#[derive(Debug)]
pub struct Written<T> {
    /// What the work returned.
    pub value: T,
    /// The events it recorded, with their positions.
    pub events: Vec<Arc<Logged>>,
}

/// What a health probe of the database found.
#[derive(Debug, Clone)]
pub struct Probe {
    /// How long a round trip took.
    pub latency: Duration,
    /// The engine.
    pub engine: &'static str,
    /// Whether a finished write survives a power cut.
    pub durable: bool,
}

/// The handle of the store; cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    engine: Engine,
    hub: Arc<Hub>,
    seal: Arc<Seal>,
    url: DatabaseUrl,
}

#[derive(Debug)]
enum Engine {
    Sqlite(sqlite::Engine),
    Postgres(postgres::Engine),
}

impl Store {
    /// Opens the database, takes its lock and brings its schema up to date.
    ///
    /// # Errors
    /// If it cannot be opened, is in use, or was written by a newer Godel.
    pub async fn open(config: &Config) -> Result<Self> {
        let config = config.clone();
        let (hub, seal) = (Arc::new(Hub::default()), Arc::new(Seal::default()));
        blocking(move || {
            let engine = match &config.url {
                DatabaseUrl::Sqlite(path) => Engine::Sqlite(sqlite::Engine::open(
                    path,
                    &config,
                    Arc::clone(&hub),
                    Arc::clone(&seal),
                )?),
                DatabaseUrl::Postgres(url) => Engine::Postgres(postgres::Engine::open(
                    url,
                    &config,
                    Arc::clone(&hub),
                    Arc::clone(&seal),
                )?),
            };
            Ok(Self { inner: Arc::new(Inner { engine, hub, seal, url: config.url }) })
        })
        .await
    }

    /// Hands over the key of the record of acts; before it, nothing can be recorded there.
    pub fn unlock(&self, key: AuditKey) {
        self.inner.seal.set(key);
    }

    /// Reads the schema's version without changing anything.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub async fn schema(config: &Config) -> Result<SchemaStatus> {
        let config = config.clone();
        blocking(move || match &config.url {
            DatabaseUrl::Sqlite(path) => sqlite::schema(path),
            DatabaseUrl::Postgres(url) => postgres::schema(url),
        })
        .await
    }

    /// Returns who holds on to the oldest state of the database, for all that this user may see; there
    /// is nobody on SQLite.
    ///
    /// # Errors
    /// If the database cannot be asked.
    pub async fn oldest_holder(url: &DatabaseUrl) -> Result<Option<Holder>> {
        let url = url.clone();
        blocking(move || match &url {
            DatabaseUrl::Sqlite(_) => Ok(None),
            DatabaseUrl::Postgres(url) => postgres::holders::oldest(url),
        })
        .await
    }

    /// Migrates the schema to a version, forward or back. No server may run on it.
    ///
    /// # Errors
    /// If the database is in use, or a step fails; a failed step changes nothing.
    pub async fn migrate(config: &Config, to: i64) -> Result<SchemaStatus> {
        let config = config.clone();
        blocking(move || match &config.url {
            DatabaseUrl::Sqlite(path) => sqlite::migrate(path, to),
            DatabaseUrl::Postgres(url) => postgres::migrate(url, to),
        })
        .await
    }

    /// Runs short read-only work on one consistent view of the data.
    ///
    /// On SQLite it runs on the calling thread: it must be bounded to some hundred rows. For more
    /// there is [`Store::read_long`].
    ///
    /// # Errors
    /// What the work returns, or that the database cannot be read.
    pub async fn read<T, E, F>(&self, scope: Scope, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        if let Engine::Sqlite(engine) = &self.inner.engine {
            return engine.read(scope, Length::Short, work);
        }
        let (job, answer) = job(scope, work);
        self.submit(job, answer, false).await.map(|(value, _)| value)
    }

    /// Runs read-only work that may take long, beside the async runtime.
    ///
    /// # Errors
    /// What the work returns, or that the database cannot be read.
    pub async fn read_long<T, E, F>(&self, scope: Scope, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        if let Engine::Postgres(_) = &self.inner.engine {
            return self.read(scope, work).await;
        }
        let run = move || match &inner.engine {
            Engine::Sqlite(engine) => engine.read(scope, Length::Long, work),
            Engine::Postgres(_) => Err(Error::Closed.into()),
        };
        tokio::task::spawn_blocking(run).await.unwrap_or_else(|_| Err(Error::Panicked.into()))
    }

    /// Runs work as one transaction; it is durable when this returns.
    ///
    /// The work may run again if the database asked for it (a deadlock, a lost connection before
    /// the commit), so it must have no effect but on the transaction.
    ///
    /// # Errors
    /// What the work returns (then nothing was changed), or that it could not be committed.
    pub async fn write<T, E, F>(&self, scope: Scope, work: F) -> Result<Written<T>, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        let (job, answer) = job(scope, work);
        let (value, events) = self.submit(job, answer, true).await?;
        Ok(Written { value, events })
    }

    /// Has work done as one transaction like [`Store::write`], without anybody who waits: `then` is
    /// told how it ended, on the thread that wrote, so it must be quick and wait for nothing.
    ///
    /// `false` if so many writes wait that nothing more is taken now, or the store is closed; then
    /// nothing is told.
    pub fn post<T, E, F, D>(&self, scope: Scope, work: F, then: D) -> bool
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        D: FnOnce(Result<Written<T>, E>) + Send + 'static,
    {
        let queue = match &self.inner.engine {
            Engine::Sqlite(engine) => engine.writer(),
            Engine::Postgres(engine) => engine.writer(scope),
        };
        let told = move |finished: Finished<T, E>| {
            then(finished.map(|(value, events)| Written { value, events }));
        };
        queue.try_send(job::work(scope, work, Then(told))).is_ok()
    }

    async fn submit<T, E: From<Error>>(
        &self,
        job: Box<dyn Job>,
        answer: Answer<T, E>,
        write: bool,
    ) -> Result<(T, Vec<Arc<Logged>>), E> {
        let queue = match &self.inner.engine {
            Engine::Sqlite(engine) => engine.writer(),
            Engine::Postgres(engine) if write => engine.writer(job.scope()),
            Engine::Postgres(engine) => engine.readers(),
        };
        // A full queue makes the caller wait: back-pressure instead of memory.
        queue.send(job).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Follows a tenant's log: from behind `after`, or from its end.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub async fn tail(
        &self,
        tenant: TenantId,
        after: Option<Seq>,
        filter: EventFilter,
    ) -> Result<Tail> {
        Tail::open(self.clone(), tenant, after, filter).await
    }

    /// Returns the newest `limit` events, newest first, from memory, if there are more than that.
    ///
    /// Only on SQLite: there this process alone writes, so memory cannot be older than the disk.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub async fn newest(&self, tenant: TenantId, limit: usize) -> Result<Option<Vec<Arc<Logged>>>> {
        if !matches!(self.inner.engine, Engine::Sqlite(_)) {
            return Ok(None);
        }
        let stream = self.hub().stream(tenant);
        if let Some(newest) = stream.newest(limit) {
            return Ok(Some(newest));
        }
        let (head, mut older) = self
            .read(Scope::Tenant(tenant), |tx| {
                let (head, _) = tx.events().bounds()?;
                let all = EventFilter::all();
                let page = tx.events().page(&all, Direction::Backward, head.next(), WARM_EVENTS)?;
                Ok::<_, Error>((head, page.events))
            })
            .await?;
        older.reverse();
        stream.start_at(head);
        stream.warm(&older.into_iter().map(Logged::new).collect::<Vec<_>>());
        Ok(stream.newest(limit))
    }

    /// Forgets, in memory, events that retention removed.
    pub fn forget(&self, tenant: TenantId, upto: Seq) {
        self.hub().stream(tenant).forget(upto);
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.inner.hub
    }

    /// Returns the address of the database.
    pub fn url(&self) -> &DatabaseUrl {
        &self.inner.url
    }

    /// Returns the directory that holds the database, if it is a file.
    pub fn directory(&self) -> Option<PathBuf> {
        match &self.inner.url {
            DatabaseUrl::Sqlite(path) => path.parent().map(PathBuf::from),
            DatabaseUrl::Postgres(_) => None,
        }
    }

    /// Asks the database for a sign of life.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn probe(&self) -> Result<Probe> {
        let start = Instant::now();
        if let Engine::Sqlite(engine) = &self.inner.engine
            && engine.writer().is_closed()
        {
            return Err(Error::Closed);
        }
        self.read(Scope::System, |tx| tx.tenants().count()).await?;
        let durable = self.is_durable();
        Ok(Probe { latency: start.elapsed(), engine: self.inner.url.engine(), durable })
    }

    /// Tells whether a finished write survives a power cut.
    pub fn is_durable(&self) -> bool {
        match &self.inner.engine {
            Engine::Sqlite(engine) => engine.durable(),
            Engine::Postgres(engine) => engine.durable(),
        }
    }

    /// Lets the database check every statement that Godel uses; returns how many there are.
    ///
    /// # Errors
    /// If it does not understand one of them, which means that the schema is not what it should be.
    pub async fn check_statements(&self) -> Result<usize> {
        let url = self.inner.url.clone();
        blocking(move || match &url {
            DatabaseUrl::Sqlite(path) => sqlite::check_statements(path),
            DatabaseUrl::Postgres(url) => postgres::check_statements(url),
        })
        .await
    }

    /// Finishes what was accepted, then closes the database.
    pub async fn close(&self) {
        let store = self.clone();
        let closed = blocking(move || {
            match &store.inner.engine {
                Engine::Sqlite(engine) => engine.close(),
                Engine::Postgres(engine) => engine.close(),
            }
            Ok(())
        });
        if let Err(error) = closed.await {
            tracing::warn!(%error, "the store did not close cleanly");
        }
    }
}

/// Runs blocking work beside the async runtime.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Error::Panicked)?
}
