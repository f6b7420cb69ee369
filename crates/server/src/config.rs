//! How a server runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use godel_app::AppConfig;
use godel_app::backup::Schedule;
use godel_app::vault::MasterKey;
use godel_store::{DatabaseUrl, Durability};

use crate::Tls;

/// How a server runs.
#[derive(Debug, Clone)]
pub struct Config {
    /// The directory for the database, the owner's key and the discovery file.
    pub data_dir: PathBuf,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The database; `None` for SQLite in the data directory.
    pub database: Option<DatabaseUrl>,
    /// Redis, if there is one; may hold a password.
    pub redis: Option<RedisUrl>,
    /// What a finished write survives.
    pub durability: Durability,
    /// The master key; `None` for the one in the data directory.
    pub master_key: Option<MasterKey>,
    /// How the application behaves.
    pub app: AppConfig,
    /// When backups are made, if they are.
    pub backup: Option<Schedule>,
    /// How long shutdown waits for requests that are under way.
    pub drain: Duration,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// How many bytes a body may have.
    pub body_max_bytes: usize,
    /// Where the server's certificate comes from.
    pub tls: Tls,
    /// How often it is checked whether a new certificate is needed, or there.
    pub tls_check: Duration,
    /// Whether other machines may reach the server without TLS.
    pub insecure: bool,
    /// How agents are run.
    pub agents: AgentsConfig,
    /// The file of providers of models; `None` for `proxy.toml` in the data directory.
    pub providers: Option<PathBuf>,
}

/// How agents are run on a server.
#[derive(Debug, Clone)]
pub struct AgentsConfig {
    /// How many run at once.
    pub capacity: u32,
    /// The binary that is started again as the helper of sandboxes; `None` for this one.
    pub helper: Option<PathBuf>,
    /// The bubblewrap to use; `None` for the one on PATH.
    pub bubblewrap: Option<PathBuf>,
    /// The user's state directory of Godel; `None` for one in the data directory.
    pub state_dir: Option<PathBuf>,
}

impl AgentsConfig {
    /// How many agents run at once unless told otherwise.
    pub const CAPACITY: u32 = 64;
}

impl Default for AgentsConfig {
    fn default() -> Self {
        Self { capacity: Self::CAPACITY, helper: None, bubblewrap: None, state_dir: None }
    }
}

/// The address of Redis, which is never shown.
#[derive(Clone)]
pub struct RedisUrl(pub String);

impl std::fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedisUrl(..)")
    }
}

impl Config {
    /// The address on which a server listens unless told otherwise.
    pub const DEFAULT_LISTEN: &'static str = "127.0.0.1:7373";

    /// Serves a data directory with the defaults.
    pub fn new(data_dir: PathBuf, listen: SocketAddr) -> Self {
        Self {
            data_dir,
            listen,
            database: None,
            redis: None,
            durability: Durability::Full,
            master_key: None,
            app: AppConfig::default(),
            backup: None,
            drain: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            body_max_bytes: 1024 * 1024,
            tls: Tls::Off,
            tls_check: Duration::from_secs(60),
            insecure: false,
            agents: AgentsConfig::default(),
            providers: None,
        }
    }

    /// Tells whether other machines can reach the server, and nothing protects the way.
    pub fn is_exposed(&self) -> bool {
        self.tls == Tls::Off && !self.listen.ip().is_loopback()
    }

    /// Returns the file of providers of models.
    pub fn providers_file(&self) -> PathBuf {
        self.providers.clone().unwrap_or_else(|| self.data_dir.join("proxy.toml"))
    }

    /// Returns the address of the database.
    pub fn database_url(&self) -> DatabaseUrl {
        let own = || DatabaseUrl::Sqlite(self.data_dir.join("godel.db"));
        self.database.clone().unwrap_or_else(own)
    }
}
