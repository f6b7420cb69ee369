//! Which providers there are, which models stand for others, and what everybody may use.
//!
//! Without a file everything has a default: the well-known providers, with keys from the environment
//! and from `godel secret set`.

mod capture;
mod named;
mod provider;
mod rates;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use godel_decide::{Prefer, Quota};
use godel_llm::Registry;
use serde::Deserialize;

use crate::policy::Policy;

use self::capture::CaptureTable;
pub use self::capture::{CaptureConfig, CaptureRule};
use self::named::Named;
use self::provider::checked;
pub(crate) use self::provider::{Auth, Provider};
use self::rates::RateTable;
pub use self::rates::Rates;

/// What comes with the program.
const BUILT_IN: &str = include_str!("../data/providers.toml");

/// How much somebody may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests in a minute.
    pub per_minute: Option<u32>,
    /// Requests in an hour.
    pub per_hour: Option<u32>,
    /// Requests in a day.
    pub per_day: Option<u32>,
    /// Tokens in a minute.
    pub tokens_per_minute: Option<u32>,
    /// Tokens in an hour.
    pub tokens_per_hour: Option<u32>,
    /// Tokens in a day.
    pub tokens_per_day: Option<u32>,
    /// Requests at the same time.
    pub concurrent: Option<u32>,
}

impl Limits {
    const OPEN: Self = Self {
        per_minute: None,
        per_hour: None,
        per_day: None,
        tokens_per_minute: None,
        tokens_per_hour: None,
        tokens_per_day: None,
        concurrent: None,
    };

    /// Returns the limits of requests.
    pub const fn requests(&self) -> Quota {
        Quota { per_minute: self.per_minute, per_hour: self.per_hour, per_day: self.per_day }
    }

    /// Returns the limits of tokens.
    pub const fn tokens(&self) -> Quota {
        Quota {
            per_minute: self.tokens_per_minute,
            per_hour: self.tokens_per_hour,
            per_day: self.tokens_per_day,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::OPEN
    }
}

/// What each agent, user and project may use.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitTable {
    /// Each agent.
    pub agent: Limits,
    /// Each user.
    pub user: Limits,
    /// Each project.
    pub project: Limits,
}

impl Default for LimitTable {
    fn default() -> Self {
        let agent = Limits {
            per_minute: Some(100),
            per_hour: Some(1_000),
            per_day: Some(5_000),
            ..Limits::OPEN
        };
        Self { agent, user: Limits::OPEN, project: Limits::OPEN }
    }
}

/// What counts in the choice between providers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreferName {
    /// The order in which they are named.
    #[default]
    Order,
    /// The cost.
    Cost,
    /// The time to the first byte.
    Latency,
}

impl From<PreferName> for Prefer {
    fn from(name: PreferName) -> Self {
        match name {
            PreferName::Order => Self::Order,
            PreferName::Cost => Self::Cost,
            PreferName::Latency => Self::Latency,
        }
    }
}

/// The file of the switchboard.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    providers: Named,
    aliases: BTreeMap<String, OneOrMore>,
    fallbacks: BTreeMap<String, Vec<String>>,
    hedges: BTreeMap<String, u64>,
    prefer: PreferName,
    limits: LimitTable,
    models: Option<PathBuf>,
    policies: Vec<Policy>,
    share_keys: bool,
    body_max_mb: usize,
    first_byte_seconds: u64,
    idle_seconds: u64,
    attempts: u32,
    cache: CacheConfig,
    capture: CaptureTable,
    keep_days: u32,
    rates: RateTable,
}

impl Default for File {
    fn default() -> Self {
        Self {
            providers: Named::default(),
            aliases: BTreeMap::new(),
            fallbacks: BTreeMap::new(),
            hedges: BTreeMap::new(),
            prefer: PreferName::default(),
            limits: LimitTable::default(),
            models: None,
            policies: Vec::new(),
            share_keys: false,
            body_max_mb: 32,
            first_byte_seconds: 600,
            idle_seconds: 300,
            attempts: 3,
            cache: CacheConfig::default(),
            capture: CaptureTable::default(),
            keep_days: 90,
            rates: RateTable::default(),
        }
    }
}

/// Whether answers are kept to be given again.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheConfig {
    /// Whether they are; a request must then ask for it.
    pub enabled: bool,
    /// For how many seconds.
    pub seconds: u64,
    /// How much memory they may take.
    pub max_mb: usize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { enabled: false, seconds: 300, max_mb: 64 }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// How the switchboard works.
#[derive(Debug, Clone)]
pub struct Config {
    /// The providers by name.
    pub providers: HashMap<String, Provider>,
    /// The names of the providers in the order in which they are asked.
    pub order: Vec<String>,
    /// The providers that the user's file names.
    pub own: Vec<String>,
    /// Names that stand for models, in the order in which those are tried.
    pub aliases: HashMap<String, Vec<String>>,
    /// Models that are tried after another.
    pub fallbacks: HashMap<String, Vec<String>>,
    /// Models for which a second provider is asked too, if the first says nothing for so long.
    pub hedges: HashMap<String, Duration>,
    /// What counts in the choice.
    pub prefer: Prefer,
    /// What everybody may use.
    pub limits: LimitTable,
    /// The user's own list of models, if there is one.
    list: Option<PathBuf>,
    /// The models; what comes with the program is read when it is first asked for, because many
    /// servers never ask a model.
    registry: OnceLock<Registry>,
    /// What is done with requests that look like something.
    pub policies: Vec<Policy>,
    /// Whether keys of the server's environment and files serve every tenant.
    pub share_keys: bool,
    /// The largest request.
    pub body_max_bytes: usize,
    /// How long a provider may take for its first byte.
    pub first_byte: Duration,
    /// How long a stream may be silent.
    pub idle: Duration,
    /// How often a request is tried at most.
    pub attempts: u32,
    /// Whether answers are kept.
    pub cache: CacheConfig,
    /// Whether what is asked and answered is kept.
    pub capture: CaptureRule,
    /// For how many days attempts are kept one by one.
    pub keep_days: u32,
    /// What machines and storage cost.
    pub rates: Rates,
}

/// A file that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadConfig(String);

impl BadConfig {
    /// Says that the file cannot be read at all.
    pub fn unreadable(path: &std::path::Path, cause: &std::io::Error) -> Self {
        Self(format!("{} cannot be read: {cause}", path.display()))
    }
}

impl Default for Config {
    /// What comes with the program; a test makes sure that it can be read.
    fn default() -> Self {
        Self::read("").unwrap_or_else(|_| Self {
            providers: HashMap::new(),
            order: Vec::new(),
            own: Vec::new(),
            aliases: HashMap::new(),
            fallbacks: HashMap::new(),
            hedges: HashMap::new(),
            prefer: Prefer::default(),
            limits: LimitTable::default(),
            list: None,
            registry: OnceLock::new(),
            policies: Vec::new(),
            share_keys: false,
            body_max_bytes: 0,
            first_byte: Duration::ZERO,
            idle: Duration::ZERO,
            attempts: 1,
            cache: CacheConfig::default(),
            capture: CaptureRule::default(),
            keep_days: 1,
            rates: Rates::default(),
        })
    }
}

impl Config {
    /// Returns the models.
    pub fn registry(&self) -> &Registry {
        // A test makes sure that what comes with the program can be read.
        self.registry.get_or_init(|| Registry::with(None).unwrap_or_default())
    }

    /// Returns the files beside the user's own from which it was read or that hold keys: what they say
    /// counts when they change, too.
    pub fn files(&self) -> Vec<&Path> {
        let keys = self.providers.values().flat_map(|provider| &provider.key_files);
        let mut files: Vec<&Path> = self.list.iter().chain(keys).map(PathBuf::as_path).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Reads the file of the user over what comes with the program.
    ///
    /// # Errors
    /// If it makes no sense; the sentence says where.
    pub fn read(text: &str) -> Result<Self, BadConfig> {
        let bad = |error: toml::de::Error| BadConfig(error.to_string().trim().to_owned());
        let built_in: File = toml::from_str(BUILT_IN).map_err(bad)?;
        let own: File = toml::from_str(text).map_err(bad)?;
        let models = own.models.as_ref().map(|path| {
            std::fs::read_to_string(path)
                .map_err(|cause| BadConfig(format!("{} cannot be read: {cause}", path.display())))
        });
        let registry = match models.transpose()? {
            Some(own) => {
                let read = Registry::with(Some(&own));
                OnceLock::from(read.map_err(|error| BadConfig(error.to_string()))?)
            }
            None => OnceLock::new(),
        };
        // The user's own come first, and what the user says of a known one is put over it.
        let mut order: Vec<String> = own.providers.names().cloned().collect();
        let known = built_in.providers.names();
        order.extend(known.filter(|name| own.providers.get(name).is_none()).cloned());
        let mut providers = HashMap::new();
        for name in &order {
            let mut table = built_in.providers.get(name).cloned().unwrap_or_default();
            table.extend(own.providers.get(name).cloned().unwrap_or_default());
            let provider =
                toml::Value::Table(table).try_into().map_err(|error: toml::de::Error| {
                    BadConfig(format!("provider {name}: {}", error.to_string().trim()))
                })?;
            providers.insert(name.clone(), checked(name, provider)?);
        }
        order.retain(|name| !providers[name].disabled);
        let aliases = own.aliases.into_iter().map(|(alias, models)| match models {
            OneOrMore::One(model) => (alias, vec![model]),
            OneOrMore::More(models) => (alias, models),
        });
        let hedges = own.hedges.into_iter().map(|(model, ms)| (model, Duration::from_millis(ms)));
        for policy in &own.policies {
            policy.check().map_err(BadConfig)?;
        }
        Ok(Self {
            providers,
            order,
            own: own.providers.names().cloned().collect(),
            aliases: aliases.collect(),
            fallbacks: own.fallbacks.into_iter().collect(),
            hedges: hedges.collect(),
            prefer: own.prefer.into(),
            limits: own.limits,
            list: own.models,
            registry,
            policies: own.policies,
            share_keys: own.share_keys,
            body_max_bytes: own.body_max_mb.clamp(1, 1_024) * 1024 * 1024,
            first_byte: Duration::from_secs(own.first_byte_seconds.max(1)),
            idle: Duration::from_secs(own.idle_seconds.max(1)),
            attempts: own.attempts.clamp(1, 10),
            cache: own.cache,
            capture: own.capture.rule(own.keep_days.max(1)),
            keep_days: own.keep_days.max(1),
            rates: own.rates.read()?,
        })
    }
}

#[cfg(test)]
mod tests;
