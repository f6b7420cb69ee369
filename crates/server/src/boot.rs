//! Booting: wires everything, in one place.

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use godel_api::{Discovery, OWNER_KEY_FILE};
use godel_app::auth::{self, Credential, login};
use godel_app::{App, Crew, keys, retention, tenants};
use godel_model::{ApiKey, Code, Report, SystemClock, TenantId, code};
use godel_store::hints::Hints;
use godel_store::{Config as StoreConfig, DatabaseUrl, FileLock, Store};
use tokio::net::TcpListener;

use crate::files::{make_private_dir, write_private};
use crate::state::{Parts, Shared};
use crate::{Config, anchors, listen, master, metrics, openapi, router};

/// Why a server did not start or stop as it should.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another program listens on the address.
    #[error("another program listens on {0}")]
    AddressInUse(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Other machines could reach the address.
    #[error("{0} can be reached from other machines, which this version does not protect yet")]
    NotLoopback(SocketAddr),
    /// A file could not be used.
    #[error("{} could not be used: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The master key can be read by others.
    #[error("{} can be read by other users of this machine", .0.display())]
    OpenMasterKey(PathBuf),
    /// The file with the master key holds something else.
    #[error("{} does not hold a master key", .0.display())]
    BadMasterKey(PathBuf),
    /// The master key is not there, and the database needs it.
    #[error("the master key {needed} is not in {}", path.display())]
    NoMasterKey {
        /// Which one is needed.
        needed: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A use case failed.
    #[error(transparent)]
    App(#[from] godel_app::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] godel_store::Error),
    /// Metrics could not be set up.
    #[error("metrics could not be set up: {0}")]
    Metrics(String),
}

impl Report for StartError {
    fn code(&self) -> Code {
        match self {
            Self::AddressInUse(_) => code::ADDRESS_IN_USE,
            Self::Listen { .. } | Self::NotLoopback(_) => code::INVALID_CONFIG,
            Self::File { .. } => code::FILE_FAILED,
            Self::OpenMasterKey(_) | Self::BadMasterKey(_) | Self::NoMasterKey { .. } => {
                code::MASTER_KEY_WRONG
            }
            Self::App(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Metrics(_) => code::INTERNAL_ERROR,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::AddressInUse(_) => {
                Some("stop it, or choose another address with --listen 127.0.0.1:PORT".to_owned())
            }
            Self::Listen { .. } => Some("choose another address with --listen".to_owned()),
            Self::NotLoopback(_) => Some("listen on 127.0.0.1 or [::1]".to_owned()),
            Self::File { .. } => Some("choose a directory you may write to with --data".to_owned()),
            Self::OpenMasterKey(path) => Some(format!("run: chmod 600 {}", path.display())),
            Self::BadMasterKey(_) | Self::NoMasterKey { .. } => Some(
                "copy master.key from the server that made the database (or from where you keep \
                 it), or set GODEL_MASTER_KEY"
                    .to_owned(),
            ),
            Self::App(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Metrics(_) => None,
        }
    }
}

/// The file in the data directory that a running server holds locked.
pub const LOCK_FILE: &str = "server.lock";

/// How long the last words to the database may take.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);
/// How often metrics are folded together, so that their memory stays small.
const UPKEEP: Duration = Duration::from_secs(5);

/// A running server.
#[derive(Debug)]
pub struct Server {
    app: App,
    crew: Crew,
    discovery: Discovery,
    data_dir: PathBuf,
    drain: Duration,
    tenant: TenantId,
    login_link: String,
    first_start: bool,
    _lock: FileLock,
}

impl Server {
    /// Starts a server; when this returns, it is ready.
    ///
    /// # Errors
    /// If the address, the data directory or the database cannot be used.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        if !config.listen.ip().is_loopback() {
            return Err(StartError::NotLoopback(config.listen));
        }
        make_private_dir(&config.data_dir)
            .map_err(|cause| StartError::File { path: config.data_dir.clone(), cause })?;
        // First the lock and the data, then the address: two servers never touch the same data.
        let lock = FileLock::take(&config.data_dir.join(LOCK_FILE))?;
        let mut store_config = StoreConfig::new(config.database_url());
        store_config.durability = config.durability;
        let store = Store::open(&store_config).await?;
        let hints = match &config.redis {
            Some(url) => Some(Hints::connect(&url.0).await?),
            None => None,
        };
        let given = config.master_key.as_ref();
        let master = master::settle_master_key(given, &config.data_dir, &store).await?;
        let app = App::open(store, hints, Arc::new(SystemClock), config.app, &master).await?;
        let listener = bind(config.listen).await?;
        let address = listener.local_addr().unwrap_or(config.listen);
        let tenant = tenants::ensure_first(&app).await?.id;
        let first_start = ensure_owner_key(&app, tenant, &config.data_dir).await?;
        let crew = Crew::default();
        let shared = shared(&app, &crew, &config)?;
        let routes = router::build(&shared);
        retention::start(&app, &crew);
        keep_metrics_small(&shared);
        anchors::keep(&app, &crew, config.data_dir.clone());
        crew.spawn(listen::serve(listener, routes, crew.clone()));
        tenants::record_server(&app, tenant, "server:start").await?;
        let url = format!("http://{address}");
        let login_link = login_link(&app, &url, tenant).await?;
        let discovery = Discovery {
            url,
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: shared.started_at,
        };
        let path = Discovery::path(&config.data_dir);
        discovery.write(&config.data_dir).map_err(|cause| StartError::File { path, cause })?;
        tracing::info!(url = discovery.url, database = app.store.url().shown(), "ready");
        let (drain, data_dir) = (config.drain, config.data_dir);
        Ok(Self {
            app,
            crew,
            discovery,
            data_dir,
            drain,
            tenant,
            login_link,
            first_start,
            _lock: lock,
        })
    }

    /// Returns where it listens.
    pub fn url(&self) -> &str {
        &self.discovery.url
    }

    /// Returns a link that logs a browser in, once.
    pub fn login_link(&self) -> &str {
        &self.login_link
    }

    /// Tells whether the owner's key was made just now.
    pub fn is_first_start(&self) -> bool {
        self.first_start
    }

    /// Returns the application, for tests that look behind the door.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Serves until `shutdown` is done, then lets requests finish and closes everything.
    ///
    /// # Errors
    /// If the discovery file cannot be removed.
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
        shutdown.await;
        tracing::info!("stopping");
        if !self.crew.stop(self.drain).await {
            tracing::warn!("some requests did not finish in time");
        }
        // A database that hangs must not keep the process alive.
        let last = async {
            if let Err(error) = tenants::record_server(&self.app, self.tenant, "server:stop").await
            {
                tracing::warn!(%error, "the stop was not recorded");
            }
            self.app.store.close().await;
        };
        if tokio::time::timeout(CLOSE_PATIENCE, last).await.is_err() {
            tracing::warn!("the database did not close in time");
        }
        let path = Discovery::path(&self.data_dir);
        let removed = self.discovery.remove(&self.data_dir);
        removed.map_err(|cause| StartError::File { path, cause })
    }
}

fn shared(app: &App, crew: &Crew, config: &Config) -> Result<Shared, StartError> {
    let prometheus = metrics::install().map_err(|error| StartError::Metrics(error.to_string()))?;
    Ok(Shared::new(Parts {
        app: app.clone(),
        crew: crew.clone(),
        data_dir: config.data_dir.clone(),
        request_timeout: config.request_timeout,
        body_max_bytes: config.body_max_bytes,
        started_at: app.clock.now(),
        prometheus,
        openapi: Bytes::from(openapi::openapi_json()),
    }))
}

/// Folds metrics together now and then; otherwise every request would leave a bit of memory.
fn keep_metrics_small(shared: &Shared) {
    let (shared, stopping) = (shared.clone(), shared.crew.stopping());
    shared.crew.clone().spawn(async move {
        while tokio::time::timeout(UPKEEP, stopping.cancelled()).await.is_err() {
            shared.prometheus.run_upkeep();
        }
    });
}

async fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AddrInUse => StartError::AddressInUse(address),
        _ => StartError::Listen { address, cause },
    })
}

async fn login_link(app: &App, url: &str, tenant: TenantId) -> Result<String, StartError> {
    // Behind the `#` it stays in the browser: no server, proxy or log ever sees it.
    let owner = tenants::owner_of(tenant);
    let token = login::new_link(app, tenant, owner, login::LINK_HOURS).await?;
    Ok(format!("{url}/dashboard/#token={}", token.expose()))
}

/// Makes the owner's key unless the one in the data directory works; tells whether it did.
async fn ensure_owner_key(app: &App, tenant: TenantId, dir: &Path) -> Result<bool, StartError> {
    let path = dir.join(OWNER_KEY_FILE);
    let kept = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => None,
        // A key that is there and cannot be read must not be replaced behind its owner's back.
        Err(cause) => return Err(StartError::File { path, cause }),
    };
    if let Some(text) = kept
        && let Ok(key) = text.trim().parse::<ApiKey>()
        && auth::identify(app, &Credential::Key(key)).await.is_ok()
    {
        return Ok(false);
    }
    // A file belongs to this data directory alone; a server's database is shared with other
    // servers, whose owner keys must go on working.
    let older = match app.store.url() {
        DatabaseUrl::Sqlite(_) => keys::Older::End,
        DatabaseUrl::Postgres(_) => keys::Older::Stay,
    };
    let owner = tenants::owner_of(tenant);
    let key = keys::create_owners(app, tenant, owner, older).await?;
    write_private(&path, key.expose()).map_err(|cause| StartError::File { path, cause })?;
    Ok(true)
}
