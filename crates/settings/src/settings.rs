//! The settings, each with its default and its meaning.

use serde::{Deserialize, Serialize};

/// What is known about one setting.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The name, as in the file: `rate.tier`.
    pub name: &'static str,
    /// What it means, in sentences.
    pub about: &'static str,
    /// The type of its value.
    kind: &'static str,
}

impl Key {
    /// Returns the environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("GODEL_{}", self.name.to_uppercase().replace('.', "_"))
    }

    /// Tells whether its value is a number.
    pub(crate) fn is_number(&self) -> bool {
        self.kind.contains("u32") || self.kind.contains("u64")
    }

    /// Tells whether its value is true or false.
    pub(crate) fn is_switch(&self) -> bool {
        self.kind == "bool"
    }

    /// Returns the flag of `godel up` that sets it.
    pub fn flag(&self) -> Option<&'static str> {
        match self.name {
            "listen" => Some("--listen"),
            "insecure" => Some("--insecure"),
            "tls.mode" => Some("--tls"),
            "tls.cert" => Some("--tls-cert"),
            "tls.key" => Some("--tls-key"),
            "tls.names" => Some("--tls-name"),
            "database.url" => Some("--database"),
            "redis.url" => Some("--redis"),
            "log.level" => Some("--log-level"),
            "log.format" => Some("--log-format"),
            _ => None,
        }
    }
}

/// A value that is never shown, such as an address with a password in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What a finished write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Durability {
    Full,
    Relaxed,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Auto,
    Text,
    Json,
}

/// The service level of each caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tier {
    Free,
    Pro,
    Enterprise,
}

/// Where the server's certificate comes from, unless files are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TlsMode {
    Off,
    Auto,
}

/// A list of names: in the file also as a list, elsewhere as one text with commas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "NamesText", into = "String")]
pub(crate) struct Names(pub(crate) Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum NamesText {
    List(Vec<String>),
    Text(String),
}

impl From<NamesText> for Names {
    fn from(given: NamesText) -> Self {
        let list = match given {
            NamesText::List(list) => list,
            NamesText::Text(text) => text.split(',').map(ToOwned::to_owned).collect(),
        };
        let trimmed = list.iter().map(|name| name.trim().to_owned());
        Self(trimmed.filter(|name| !name.is_empty()).collect())
    }
}

impl From<Names> for String {
    fn from(names: Names) -> Self {
        names.0.join(",")
    }
}

/// Declares a group of settings: the type, its defaults, and the list of keys with their meaning.
macro_rules! settings {
    ($(#[doc = $about:literal])+ $scope:vis $name:ident $prefix:literal {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr;)+
    } $({ $($part:ident: $group:ident;)+ })?) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $scope struct $name {
            $($(#[doc = $doc])+ pub(crate) $field: $type,)+
            $($(
                #[doc = concat!("The settings that begin with `", stringify!($part), ".`.")]
                pub(crate) $part: $group,
            )+)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ $($($part: $group::default(),)+)? }
            }
        }

        impl $name {
            /// Returns the keys of this group and of the groups in it.
            $scope fn keys() -> Vec<Key> {
                let own = [$(Key {
                    name: concat!($prefix, stringify!($field)),
                    about: concat!($($doc, "\n"),+),
                    kind: stringify!($type),
                }),+];
                let keys = own.to_vec();
                $($(let keys = [keys, $group::keys()].concat();)+)?
                keys
            }
        }
    };
}

settings! {
    /// All settings.
    pub Settings "" {
        /// Where the server listens: an address of this machine and a port; port 0 takes a free one.
        /// Another address than loopback needs TLS, or `insecure`.
        listen: String = godel_server::Config::DEFAULT_LISTEN.to_owned();
        /// Whether other machines may reach the server without TLS. Whoever is in between can then
        /// read and change what is said; `godel status` and the log say so.
        insecure: bool = false;
        /// What a finished write survives: `full` a power cut, `relaxed` only a crash of Godel.
        /// SQLite only; on PostgreSQL every commit waits for its disk. Use `relaxed` for throw-away data.
        durability: Durability = Durability::Full;
    } {
        tls: Tls;
        database: Database;
        redis: Redis;
        proxy: Proxy;
        agents: Agents;
        log: Log;
        otlp: Otlp;
        rate: Rate;
        retention: Retention;
        backup: Backup;
        audit: Audit;
        master: Master;
        server: Server;
    }
}

settings! {
    /// How the server proves who it is.
    pub(crate) Tls "tls." {
        /// `auto` makes an authority of the server's own in the data directory, and keeps a
        /// certificate of it fresh; `off` speaks plain HTTP, unless `tls.cert` is set.
        mode: TlsMode = TlsMode::Off;
        /// A file with the server's certificate, and those between it and a root, in PEM form. It is
        /// loaded again when it changes.
        cert: Option<String> = None;
        /// The file with the private key of `tls.cert`, in PEM form.
        key: Option<String> = None;
        /// More names and addresses of this server for `auto`, with commas between. The names that
        /// the machine knows need not be given.
        names: Names = Names::default();
    }
}

settings! {
    /// Where the data is.
    pub(crate) Database "database." {
        /// The database: `sqlite:///path/to/file` or `postgres://user:password@host:5432/name`.
        /// Without it, SQLite in the data directory. `?sslmode=verify-full&sslrootcert=/path/ca.pem`
        /// asks PostgreSQL for TLS, with the meaning that `psql` gives it.
        url: Option<Secret> = None;
        /// A file that holds the address of the database, so that its password is in no
        /// environment and on no command line.
        url_file: Option<String> = None;
    }
}

settings! {
    /// Redis, which is optional.
    pub(crate) Redis "redis." {
        /// Redis, such as `redis://127.0.0.1:6379`, or with TLS `rediss://host:6379?ca=/path/ca.pem`:
        /// several servers on one database then share their rate limits. It must be there at the
        /// start; if it goes away later, nothing is lost.
        url: Option<Secret> = None;
    }
}

settings! {
    /// Agents that this server runs.
    pub(crate) Agents "agents." {
        /// How many agents run on this server at once; others wait for their turn. Each project can
        /// have less, by `[agents] max` in its `godel.toml`.
        max: u32 = godel_server::AgentsConfig::CAPACITY;
    }
}

settings! {
    /// Requests to models.
    pub(crate) Proxy "proxy." {
        /// The file that names providers of models, aliases, limits and policies; a relative path is
        /// below the data directory. Without it, `proxy.toml` in the data directory, which need not be
        /// there. It is read again when it changes.
        file: Option<String> = None;
    }
}

settings! {
    /// What is logged, to stderr.
    pub(crate) Log "log." {
        /// How much: `error`, `warn`, `info`, `debug` or `trace`; single parts of the program can be
        /// given their own, as in `info,godel_store=debug`.
        level: String = "info".to_owned();
        /// How: `text` for people, `json` for programs, `auto` for text on a terminal and JSON
        /// otherwise.
        format: LogFormat = LogFormat::Auto;
    }
}

settings! {
    /// Where traces go.
    pub(crate) Otlp "otlp." {
        /// An OpenTelemetry collector that takes traces over HTTP, such as `http://127.0.0.1:4318`;
        /// `https` works too. Without it, none are sent.
        endpoint: Option<String> = None;
    }
}

settings! {
    /// How many requests each caller may make.
    pub(crate) Rate "rate." {
        /// The service level: `free` (60 requests a minute, bursts of 10, 1 WebSocket), `pro` (600,
        /// 100, 5) or `enterprise` (6,000, 1,000, any number).
        tier: Tier = Tier::Enterprise;
        /// Requests a minute in the long run, instead of what the tier says.
        per_minute: Option<u32> = None;
        /// Requests at once after a quiet time, instead of what the tier says.
        burst: Option<u32> = None;
        /// How often one address may show wrong credentials in a minute.
        failures_per_minute: u32 = 30;
    }
}

settings! {
    /// How much of the event log is kept; older events go, what they added up to stays.
    pub(crate) Retention "retention." {
        /// For how many days events are kept.
        days: u32 = 30;
        /// How many events of a tenant are kept at most.
        max_events: u64 = 3_000_000;
        /// For how many days tasks that succeeded or were cancelled, runs of workflows and teams are
        /// kept after they have ended. What something unfinished depends on stays.
        task_days: u32 = 30;
        /// For how many days dead letters are kept, at least 7.
        dead_days: u32 = 30;
    }
}

settings! {
    /// Backups that the server makes by itself.
    pub(crate) Backup "backup." {
        /// The directory for them, best on another disk; a relative one is below the data directory.
        /// Only its user can read it if the server makes it.
        dir: Option<String> = None;
        /// How often, such as `5m` or `1h`: what is lost at most when the disk is lost. Without it,
        /// never. `5m` is a good choice.
        every: Option<String> = None;
        /// How many are kept; the oldest go when a newer one was made and checked.
        keep: u32 = 288;
    }
}

settings! {
    /// How much of the record of acts is kept.
    pub(crate) Audit "audit." {
        /// For how many days the record of who did what is kept.
        days: u32 = 365;
    }
}

settings! {
    /// The key that opens the keys in the database; by default it is in `master.key` in the data
    /// directory, made at the first start.
    pub(crate) Master "master." {
        /// The master key itself: 43 base64url characters or 64 hexadecimal digits. Several servers
        /// on one database need the same.
        key: Option<Secret> = None;
        /// Another file that holds the master key.
        key_file: Option<String> = None;
    }
}

settings! {
    /// How requests are served.
    pub(crate) Server "server." {
        /// How many seconds a stop waits for requests that are under way.
        drain_secs: u32 = 10;
        /// How many seconds a request may take.
        request_timeout_secs: u32 = 30;
        /// How many bytes the body of a request may have.
        body_max_bytes: u32 = 1024 * 1024;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_listed_with_a_meaning_and_a_variable_of_its_own() {
        let keys = Settings::keys();
        let variables: BTreeSet<String> = keys.iter().map(Key::variable).collect();
        assert_eq!(variables.len(), keys.len());
        for key in &keys {
            assert!(key.about.trim().ends_with('.'), "{}", key.name);
        }
        let value = serde_json::to_value(Settings::default()).unwrap();
        let mut leaves = 0;
        for (name, value) in value.as_object().unwrap() {
            let inner = value.as_object().map(|group| group.keys().cloned().collect());
            for leaf in inner.unwrap_or_else(|| vec![String::new()]) {
                let path = [name.as_str(), leaf.as_str()].join(".");
                let path = path.trim_end_matches('.');
                assert!(keys.iter().any(|key| key.name == path), "{path}");
                leaves += 1;
            }
        }
        assert_eq!(leaves, keys.len());
    }

    #[test]
    fn the_defaults_are_those_of_the_server() {
        let settings = Settings::default();
        let retention = godel_decide::Retention::default();
        assert_eq!(i64::from(settings.retention.days) * 24, retention.max_age.as_hours());
        assert_eq!(settings.retention.max_events, retention.max_events);
        let listen = settings.listen.parse().unwrap();
        let server = godel_server::Config::new("x".into(), listen);
        assert_eq!(u64::from(settings.server.drain_secs), server.drain.as_secs());
        let timeout = server.request_timeout.as_secs();
        assert_eq!(u64::from(settings.server.request_timeout_secs), timeout);
        assert_eq!(settings.server.body_max_bytes as usize, server.body_max_bytes);
    }

    #[test]
    fn a_secret_is_not_shown_by_debug() {
        let shown = format!("{:?}", Secret("postgres://ann:s3cret@db/x".to_owned()));
        assert!(!shown.contains("s3cret"));
    }
}
