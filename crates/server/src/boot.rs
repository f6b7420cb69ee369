//! Booting: wires everything, in one place.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use godel_api::{Discovery, OWNER_KEY_FILE};
use godel_app::auth::{self, Credential, login};
use godel_app::{App, Crew, backup, beads, keys, queue, retention, spend, tenants, workflows};
use godel_fleet::Fleet;
use godel_hints::Hints;
use godel_model::{ApiKey, Code, Report, SystemClock, TenantId, code};
use godel_previews::Previews;
use godel_proxy::Lanes;
use godel_repos::Repositories;
use godel_reviews::Reviews;
use godel_safe::{make_private_dir, write_private};
use godel_store::{Config as StoreConfig, DatabaseUrl, FileLock, Store};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::DropGuard;

use crate::state::{Entrance, Parts, Shared};
use crate::tls::{Current, Facts, Keeper, Tls, machine_name};
use crate::{Config, agents, anchors, listen, metrics, router};

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
    /// The file of providers makes no sense.
    #[error("the file of providers makes no sense: {0}")]
    Providers(#[from] godel_proxy::BadConfig),
    /// Other machines could reach the address.
    #[error("{0} can be reached from other machines, and without TLS they could listen in")]
    Exposed(SocketAddr),
    /// There is no thread on which models could be asked.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
    /// The server's certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] godel_tls::Error),
    /// A certificate could not be made.
    #[error("a certificate could not be made: {0}")]
    Signing(String),
    /// A file could not be used.
    #[error("{} could not be used: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The master key is not there, or not what it should be.
    #[error(transparent)]
    Safe(#[from] godel_safe::Error),
    /// A use case failed.
    #[error(transparent)]
    App(#[from] godel_app::Error),
    /// Agents cannot be run.
    #[error(transparent)]
    Fleet(#[from] godel_fleet::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] godel_store::Error),
    /// Redis is of no help.
    #[error(transparent)]
    Redis(#[from] godel_hints::Error),
    /// Metrics could not be set up.
    #[error("metrics could not be set up: {0}")]
    Metrics(String),
}

impl Report for StartError {
    fn code(&self) -> Code {
        match self {
            Self::AddressInUse(_) => code::ADDRESS_IN_USE,
            Self::Listen { .. } => code::INVALID_CONFIG,
            Self::Exposed(_) => code::TLS_REQUIRED,
            Self::Certificate(_) => code::CERTIFICATE_INVALID,
            Self::File { .. } => code::FILE_FAILED,
            Self::Safe(error) => error.code(),
            Self::App(error) => error.code(),
            Self::Fleet(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Redis(error) => error.code(),
            Self::Providers(_) => code::INVALID_CONFIG,
            Self::Metrics(_) | Self::Signing(_) | Self::Thread(_) => code::INTERNAL_ERROR,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::AddressInUse(_) => {
                Some("stop it, or choose another address with --listen 127.0.0.1:PORT".to_owned())
            }
            Self::Listen { .. } => Some("choose another address with --listen".to_owned()),
            Self::Exposed(_) => Some(
                "add --tls auto, or --tls-cert FILE --tls-key FILE; --insecure serves without"
                    .to_owned(),
            ),
            Self::Certificate(_) => {
                Some("give a certificate and its key as PEM files that you may read".to_owned())
            }
            Self::File { .. } => Some("choose a directory you may write to with --data".to_owned()),
            Self::Safe(error) => error.hint(),
            Self::App(error) => error.hint(),
            Self::Fleet(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Redis(error) => error.hint(),
            Self::Providers(_) => {
                Some("correct it; `godel explain invalid_config` has more".to_owned())
            }
            Self::Thread(_) => Some("raise the limits of this user (ulimit -u, -n)".to_owned()),
            Self::Metrics(_) | Self::Signing(_) => None,
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
    login_link: Option<String>,
    first_start: bool,
    certificate: Option<Arc<Current>>,
    elsewhere: Option<String>,
    /// Ends the threads on which models are asked.
    _lanes: DropGuard,
    _lock: FileLock,
}

/// Opens the database, and Redis if there is one.
async fn open_data(config: &Config) -> Result<(Store, Option<Hints>), StartError> {
    let mut store_config = StoreConfig::new(config.database_url());
    store_config.durability = config.durability;
    store_config.look = config.app.look;
    let store = Store::open(&store_config).await?;
    let hints = match &config.redis {
        Some(url) => Some(Hints::connect(&url.0).await?),
        None => None,
    };
    Ok((store, hints))
}

impl Server {
    /// Starts a server; when this returns, it is ready.
    ///
    /// # Errors
    /// If the address, the data directory or the database cannot be used.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        if config.is_exposed() && !config.insecure {
            return Err(StartError::Exposed(config.listen));
        }
        let providers = spend::load(&config.providers_file())?;
        make_private_dir(&config.data_dir)
            .map_err(|cause| StartError::File { path: config.data_dir.clone(), cause })?;
        // First the lock and the data, then the address: two servers never touch the same data.
        let lock = FileLock::take(&config.data_dir.join(LOCK_FILE))?;
        let (store, hints) = open_data(&config).await?;
        let given = config.master_key.as_ref();
        let master = godel_safe::settle_master_key(given, &config.data_dir, &store).await?;
        let app = App::open(store, hints, Arc::new(SystemClock), config.app, &master).await?;
        app.switchboard.reload(providers);
        let keeper = Keeper::open(&config.tls, &config.data_dir, config.listen, app.clock.now())?;
        let listener = bind(config.listen).await?;
        let address = listener.local_addr().unwrap_or(config.listen);
        let tenant = tenants::ensure_first(&app).await?.id;
        let first_start = ensure_owner_key(&app, tenant, &config.data_dir).await?;
        let crew = Crew::default();
        let certificate = keeper.as_ref().map(Keeper::current);
        let (door, inside) = agents::door(&config.tls, near(address)).await?;
        let fleet = agents::fleet(&app, &crew, &config, inside)?;
        let shared = shared((&app, &fleet), &crew, &config, certificate.clone())?;
        let (lanes, lanes_end) = Lanes::open().map_err(StartError::Thread)?;
        spend::start(&app, &crew, (config.providers_file(), lanes.first())).await?;
        retention::start(&app, &crew);
        beads::start(&app, &crew);
        queue::start(&app, &crew).await?;
        workflows::start(&app, &crew);
        if let Some(schedule) = config.backup.clone() {
            backup::start(&app, &crew, schedule);
        }
        keep_metrics_small(&shared);
        anchors::keep(&app, &crew, config.data_dir.clone());
        let rooms = listen::Rooms::new(router::build(&shared), &shared, lanes);
        open_doors((listener, keeper.as_ref().map(Keeper::acceptor)), door, &rooms, &crew);
        agents::start(&fleet).await?;
        tenants::record_server(&app, tenant, "server:start").await?;
        let url = url(&config.tls, near(address));
        let login_link = login_link(&app, &url, tenant).await?;
        let discovery = Discovery {
            url,
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: shared.started_at,
            fingerprint: certificate.as_ref().map(|now| now.facts().fingerprint.to_string()),
            insecure: config.is_exposed(),
        };
        let path = Discovery::path(&config.data_dir);
        discovery.write(&config.data_dir).map_err(|cause| StartError::File { path, cause })?;
        if let Some(keeper) = keeper {
            keep_fresh(keeper, &shared, discovery.clone(), config.tls_check);
        }
        announce(&discovery, &app, address);
        let elsewhere = elsewhere(&config.tls, address);
        Ok(Self {
            app,
            crew,
            discovery,
            data_dir: config.data_dir,
            drain: config.drain,
            tenant,
            login_link,
            first_start,
            certificate,
            elsewhere,
            _lanes: lanes_end,
            _lock: lock,
        })
    }

    /// Returns where it listens.
    pub fn url(&self) -> &str {
        &self.discovery.url
    }

    /// Returns how other machines reach it, if they can and it is not the same address.
    pub fn elsewhere(&self) -> Option<&str> {
        self.elsewhere.as_deref()
    }

    /// Returns what its certificate says of itself, with TLS.
    pub fn certificate(&self) -> Option<Facts> {
        self.certificate.as_ref().map(|current| current.facts())
    }

    /// Tells whether other machines can reach it without TLS.
    pub fn is_insecure(&self) -> bool {
        self.discovery.insecure
    }

    /// Returns a link that logs a browser in as the owner, once; none if its account is closed.
    pub fn login_link(&self) -> Option<&str> {
        self.login_link.as_deref()
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
            spend::stop(&self.app).await;
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

fn shared(
    (app, fleet): (&App, &Fleet),
    crew: &Crew,
    config: &Config,
    certificate: Option<Arc<Current>>,
) -> Result<Shared, StartError> {
    let (tls, loopback) = (certificate.is_some(), config.listen.ip().is_loopback());
    let entrance = Entrance {
        certificate,
        insecure: config.is_exposed(),
        any_host: tls || !loopback,
        // On loopback it would bind every other server of this machine's `localhost` too, and
        // nobody but its owner knows the authority of `auto`.
        strict: matches!(config.tls, Tls::Files { .. }) && !loopback,
    };
    let prometheus = metrics::install().map_err(|error| StartError::Metrics(error.to_string()))?;
    Ok(Shared::new(Parts {
        app: app.clone(),
        fleet: fleet.clone(),
        previews: Previews::new(fleet.clone()),
        reviews: Reviews::new(fleet.clone()),
        crew: crew.clone(),
        repositories: Repositories::new(app, crew, &config.data_dir),
        data_dir: config.data_dir.clone(),
        request_timeout: config.request_timeout,
        body_max_bytes: config.body_max_bytes,
        started_at: app.clock.now(),
        prometheus,
        counter: Arc::default(),
        tls,
        entrance,
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

/// Looks now and then whether a new certificate is needed, or there.
fn keep_fresh(mut keeper: Keeper, shared: &Shared, mut discovery: Discovery, every: Duration) {
    let (shared, stopping) = (shared.clone(), shared.crew.stopping());
    shared.crew.clone().spawn(async move {
        while tokio::time::timeout(every, stopping.cancelled()).await.is_err() {
            if !keeper.look(shared.app.clock.now()) {
                continue;
            }
            // Commands on this machine trust what the file says.
            let fingerprint = keeper.current().facts().fingerprint.to_string();
            discovery.fingerprint = Some(fingerprint);
            if let Err(error) = discovery.write(&shared.data_dir) {
                tracing::warn!(%error, "the discovery file does not know the new certificate");
            }
        }
    });
}

/// Lets people in, and agents by a door of their own if there is one.
fn open_doors(
    (listener, acceptor): (TcpListener, Option<TlsAcceptor>),
    door: Option<TcpListener>,
    rooms: &listen::Rooms,
    crew: &Crew,
) {
    if let Some(door) = door {
        crew.spawn(listen::serve(door, rooms.for_agents(), crew.clone(), None));
    }
    crew.spawn(listen::serve(listener, rooms.clone(), crew.clone(), acceptor));
}

/// Returns an address under which this machine itself reaches a listener.
fn near(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

fn url(tls: &Tls, place: impl std::fmt::Display) -> String {
    let scheme = if *tls == Tls::Off { "http" } else { "https" };
    format!("{scheme}://{place}")
}

/// Returns how other machines reach a listener on all addresses: by the first name that was given
/// or else the machine's own.
fn elsewhere(tls: &Tls, address: SocketAddr) -> Option<String> {
    if !address.ip().is_unspecified() {
        return None;
    }
    let given = match tls {
        // One with a star stands for many names and is none itself.
        Tls::Auto { names } => names.iter().find(|name| !name.starts_with('*')).cloned(),
        Tls::Off | Tls::Files { .. } => None,
    };
    let name = given.or_else(machine_name)?;
    let name = if name.contains(':') { format!("[{name}]") } else { name };
    Some(url(tls, format!("{name}:{}", address.port())))
}

fn announce(discovery: &Discovery, app: &App, address: SocketAddr) {
    let (url, fingerprint) = (&discovery.url, discovery.fingerprint.as_deref());
    tracing::info!(url, fingerprint, database = app.store.url().shown(), "ready");
    if discovery.insecure {
        tracing::warn!(
            %address,
            "other machines can reach this server without TLS: whoever is in between can read and \
             change what is said"
        );
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AddrInUse => StartError::AddressInUse(address),
        _ => StartError::Listen { address, cause },
    })
}

async fn login_link(app: &App, url: &str, tenant: TenantId) -> Result<Option<String>, StartError> {
    // A link that opens nothing would be one more mystery for somebody who is locked out.
    if !tenants::owner_is_active(app, tenant).await? {
        tracing::warn!(
            "the owner's account is closed: no login link is made; another admin opens it with \
             `godel user enable owner`"
        );
        return Ok(None);
    }
    // Behind the `#` it stays in the browser: no server, proxy or log ever sees it.
    let owner = tenants::owner_of(tenant);
    let token = login::new_link(app, tenant, owner, login::LINK_HOURS).await?;
    Ok(Some(format!("{url}/dashboard/#token={}", token.expose())))
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
    {
        match auth::identify(app, &Credential::Key(key)).await {
            Ok(_) => return Ok(false),
            Err(godel_app::Error::Unauthorized) => {}
            // That the database failed says nothing about the key.
            Err(error) => return Err(error.into()),
        }
    }
    // One key more at each start, and none of them would open anything.
    if !tenants::owner_is_active(app, tenant).await? {
        tracing::warn!("the owner's account is closed: no owner key is made");
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
