//! From settings to how a server runs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use godel_app::backup::Schedule;
use godel_app::vault::MasterKey;
use godel_app::{AppConfig, RateConfig};
use godel_decide::Limit;
use godel_model::{Invalid, code};
use godel_server::{Config, RedisUrl, Tls, decode_master_key, is_server_name};
use godel_store::DatabaseUrl;
use godel_telemetry as telemetry;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::origin::Loaded;
use crate::settings::{Durability, LogFormat, Tier, TlsMode};

const DAYS_MAX: u32 = 36_500;
const SECS_MAX: u32 = 3_600;
const AGENTS_MAX: u32 = 1_000;
const BACKUP_MIN: SignedDuration = SignedDuration::from_secs(1);
const BACKUP_MAX: SignedDuration = SignedDuration::from_hours(31 * 24);
const BODY_MIN_BYTES: u32 = 1_024;
const BODY_MAX_BYTES: u32 = 64 * 1_024 * 1_024;

impl Loaded {
    /// Returns how the server runs with these settings.
    pub fn server(&self) -> Result<Config> {
        let settings = &self.settings;
        let own = &settings.server;
        self.within("server.drain_secs", own.drain_secs, 0, SECS_MAX)?;
        self.within("server.request_timeout_secs", own.request_timeout_secs, 1, SECS_MAX)?;
        self.within("server.body_max_bytes", own.body_max_bytes, BODY_MIN_BYTES, BODY_MAX_BYTES)?;
        self.within("retention.days", settings.retention.days, 1, DAYS_MAX)?;
        self.within("retention.task_days", settings.retention.task_days, 1, DAYS_MAX)?;
        self.within("retention.dead_days", settings.retention.dead_days, 7, DAYS_MAX)?;
        self.within("rate.failures_per_minute", settings.rate.failures_per_minute, 1, u32::MAX)?;
        self.within("audit.days", settings.audit.days, 1, DAYS_MAX)?;
        self.within("agents.max", settings.agents.max, 1, AGENTS_MAX)?;
        if settings.retention.max_events == 0 {
            return Err(self.out_of_range("retention.max_events", "at least 1"));
        }
        let mut config = Config::new(self.data.clone(), self.listen()?);
        config.database = self.database()?;
        config.redis = self.redis()?;
        config.tls = self.tls()?;
        config.insecure = settings.insecure;
        if config.is_exposed() && !config.insecure {
            return Err(self.exposed(config.listen));
        }
        config.backup = self.schedule()?;
        config.providers = self.providers()?;
        config.agents.capacity = settings.agents.max;
        config.durability = match settings.durability {
            Durability::Full => godel_store::Durability::Full,
            Durability::Relaxed => godel_store::Durability::Relaxed,
        };
        config.drain = Duration::from_secs(own.drain_secs.into());
        config.request_timeout = Duration::from_secs(own.request_timeout_secs.into());
        config.body_max_bytes = own.body_max_bytes as usize;
        config.app = AppConfig {
            rates: RateConfig {
                limit: self.limit()?,
                failures_per_minute: settings.rate.failures_per_minute,
            },
            retention: godel_decide::Retention {
                max_age: SignedDuration::from_hours(i64::from(settings.retention.days) * 24),
                max_events: settings.retention.max_events,
            },
            audit_keep: SignedDuration::from_hours(i64::from(settings.audit.days) * 24),
            keep: godel_app::queue::attic::Keep {
                done: SignedDuration::from_hours(i64::from(settings.retention.task_days) * 24),
                dead: SignedDuration::from_hours(i64::from(settings.retention.dead_days) * 24),
            },
            ..AppConfig::default()
        };
        config.master_key = self.master_key()?;
        Ok(config)
    }

    /// Returns how the store is opened with these settings.
    pub fn store(&self) -> Result<godel_store::Config> {
        let server = self.server()?;
        let durability = server.durability;
        Ok(godel_store::Config { durability, ..godel_store::Config::new(server.database_url()) })
    }

    /// Returns what is logged and traced, and how.
    pub fn telemetry(&self) -> telemetry::Config {
        let format = match self.settings.log.format {
            LogFormat::Auto => telemetry::Format::auto(),
            LogFormat::Text => telemetry::Format::Text,
            LogFormat::Json => telemetry::Format::Json,
        };
        telemetry::Config {
            level: self.settings.log.level.clone(),
            format,
            color: anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never,
            otlp_endpoint: self.settings.otlp.endpoint.clone(),
        }
    }

    /// Returns a setting as it is in effect, for people and programs to read; no passwords.
    pub fn shown(&self, key: &str) -> Result<Value> {
        let limit = || self.limit();
        Ok(match key {
            "database.url" => json!(self.server()?.database_url().shown()),
            "redis.url" => json!(self.redis()?.map(|url| without_password(&url.0))),
            "otlp.endpoint" => json!(self.settings.otlp.endpoint.as_deref().map(without_password)),
            "proxy.file" => json!(self.server()?.providers_file()),
            "master.key" => json!(self.settings.master.key.as_ref().map(|_| "(set)")),
            "rate.per_minute" => json!(limit()?.per_minute),
            "rate.burst" => json!(limit()?.burst),
            other => self.value(other).unwrap_or(Value::Null),
        })
    }

    fn listen(&self) -> Result<SocketAddr> {
        let given = self.settings.listen.as_str();
        let origin = self.origin("listen");
        let address = match given.split_once(':') {
            Some(("localhost", port)) => {
                port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
            }
            _ => given.parse().ok(),
        };
        let Some(address) = address else {
            return Err(Error::config(
                format!("`listen` is not an address with a port: \"{given}\" ({origin})"),
                format!("for example {}", Config::DEFAULT_LISTEN),
            ));
        };
        Ok(address)
    }

    fn exposed(&self, address: SocketAddr) -> Error {
        let origin = self.origin("listen");
        let message = format!(
            "other machines could reach {address} without TLS, and listen in on keys ({origin})"
        );
        Error::Invalid(Invalid::new(code::TLS_REQUIRED, message).with_hint(
            "add --tls auto, or --tls-cert FILE --tls-key FILE; --insecure serves without TLS on a \
             network that you trust",
        ))
    }

    fn tls(&self) -> Result<Tls> {
        let given = &self.settings.tls;
        let auto = given.mode == TlsMode::Auto;
        match (&given.cert, &given.key) {
            (None, None) if auto => Ok(Tls::Auto { names: self.names()? }),
            (None, None) => Ok(Tls::Off),
            _ if auto && self.wins("tls.mode", "tls.cert")? => {
                Ok(Tls::Auto { names: self.names()? })
            }
            (Some(certificate), Some(key)) => {
                Ok(Tls::Files { certificate: certificate.into(), key: key.into() })
            }
            (Some(_), None) => Err(self.half("tls.cert", "tls.key")),
            (None, Some(_)) => Err(self.half("tls.key", "tls.cert")),
        }
    }

    fn half(&self, there: &str, missing: &str) -> Error {
        Error::config(
            format!("`{there}` is set, but `{missing}` is not ({})", self.origin(there)),
            format!("set `{missing}` too: a certificate and its key belong together"),
        )
    }

    fn names(&self) -> Result<Vec<String>> {
        let names = &self.settings.tls.names.0;
        // A name with a star stands for all names below another.
        let is_name = |name: &str| is_server_name(name.strip_prefix("*.").unwrap_or(name));
        match names.iter().find(|name| !is_name(name)) {
            None => Ok(names.clone()),
            Some(bad) => Err(Error::config(
                format!("`tls.names` has a \"{bad}\" in it ({})", self.origin("tls.names")),
                "use host names and addresses, such as godel.example.org or 192.168.1.5, without a \
                 port",
            )),
        }
    }

    /// Reads the master key, if it is not the one in the data directory.
    fn master_key(&self) -> Result<Option<MasterKey>> {
        let master = &self.settings.master;
        let (text, setting) = match (&master.key, &master.key_file) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                return Err(Error::config(
                    "`master.key` and `master.key_file` are both set",
                    "set one of them",
                ));
            }
            (Some(key), None) => (key.0.clone(), "master.key"),
            (None, Some(file)) => {
                let text =
                    std::fs::read_to_string(file).map_err(|cause| Error::file(file, cause))?;
                (text, "master.key_file")
            }
        };
        decode_master_key(&text).map(Some).ok_or_else(|| {
            Error::config(
                format!("`{setting}` does not hold a master key ({})", self.origin(setting)),
                "it has 43 base64url characters, or 64 hexadecimal digits",
            )
        })
    }

    fn database(&self) -> Result<Option<DatabaseUrl>> {
        let database = &self.settings.database;
        let text = match (&database.url, &database.url_file) {
            (None, None) => return Ok(None),
            (Some(url), None) => url.0.clone(),
            (Some(url), Some(_)) if self.wins("database.url", "database.url_file")? => {
                url.0.clone()
            }
            (_, Some(file)) => {
                let text = std::fs::read_to_string(file);
                text.map_err(|cause| Error::file(file, cause))?.trim().to_owned()
            }
        };
        Ok(Some(text.parse::<DatabaseUrl>()?))
    }

    /// Returns the file of providers, if it is not the one in the data directory; it must be there.
    fn providers(&self) -> Result<Option<PathBuf>> {
        let Some(file) = &self.settings.proxy.file else {
            return Ok(None);
        };
        let path = self.data.join(file);
        if path.is_file() {
            return Ok(Some(path));
        }
        Err(Error::config(
            format!("`proxy.file` is no file: {} ({})", path.display(), self.origin("proxy.file")),
            "make the file, or remove the setting: `proxy.toml` in the data directory is found by \
             itself",
        ))
    }

    /// Returns when backups are made.
    fn schedule(&self) -> Result<Option<Schedule>> {
        let backup = &self.settings.backup;
        self.within("backup.keep", backup.keep, 1, u32::MAX)?;
        let Some(every) = &backup.every else {
            return Ok(None);
        };
        let origin = self.origin("backup.every");
        let parsed = every.parse::<SignedDuration>().ok();
        let fits = parsed.filter(|every| (BACKUP_MIN..=BACKUP_MAX).contains(every));
        let Some(fits) = fits else {
            return Err(Error::config(
                format!("`backup.every` is not a time from 1 s to 31 days: \"{every}\" ({origin})"),
                "for example 5m, 1h or 1h 30m",
            ));
        };
        let Some(dir) = &backup.dir else {
            return Err(Error::config(
                format!("`backup.every` is set and `backup.dir` is not ({origin})"),
                "name a directory for the backups, best on another disk",
            ));
        };
        let (dir, keep) = (self.data.join(dir), backup.keep as usize);
        Ok(Some(Schedule { dir, every: fits, keep }))
    }

    fn redis(&self) -> Result<Option<RedisUrl>> {
        let Some(url) = &self.settings.redis.url else {
            return Ok(None);
        };
        if !url.0.starts_with("redis://") && !url.0.starts_with("rediss://") {
            return Err(Error::config(
                format!(
                    "`redis.url` begins neither with redis:// nor with rediss:// ({})",
                    self.origin("redis.url")
                ),
                "for example redis://127.0.0.1:6379, or rediss:// for TLS",
            ));
        }
        Ok(Some(RedisUrl(url.0.clone())))
    }

    fn limit(&self) -> Result<Limit> {
        let rate = &self.settings.rate;
        let tier = match rate.tier {
            Tier::Free => godel_decide::Tier::Free,
            Tier::Pro => godel_decide::Tier::Pro,
            Tier::Enterprise => godel_decide::Tier::Enterprise,
        };
        let limit = tier.limit();
        let per_minute = rate.per_minute.unwrap_or(limit.per_minute);
        let burst = rate.burst.unwrap_or(limit.burst);
        self.within("rate.per_minute", per_minute, 1, u32::MAX)?;
        self.within("rate.burst", burst, 1, u32::MAX)?;
        Ok(Limit { per_minute, burst, ..limit })
    }

    fn within(&self, key: &str, value: u32, least: u32, most: u32) -> Result<()> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let range = if most == u32::MAX {
            format!("at least {least}")
        } else {
            format!("{least} to {most}")
        };
        Err(self.out_of_range(key, &range))
    }

    fn out_of_range(&self, key: &str, range: &str) -> Error {
        let value = self.value(key).unwrap_or_default();
        Error::config(
            format!("`{key}` cannot be {value} ({})", self.origin(key)),
            format!("it must be {range}"),
        )
    }
}

/// Returns an address without user and password.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return String::new();
    };
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let (place, _) = place.split_once('?').unwrap_or((place, ""));
    format!("{scheme}://{place}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use godel_model::Report as _;

    use super::*;
    use crate::environment::Environment;
    use crate::origin::Sources;
    use crate::settings::Settings;

    fn loaded<const N: usize>(variables: [(&str, &str); N]) -> Loaded {
        let environment = Environment::from(variables);
        let data = Path::new("/nowhere/godel");
        let sources = Sources { data, file: None, environment: &environment, flags: vec![] };
        Loaded::load(&sources).unwrap()
    }

    #[test]
    fn settings_become_a_server() {
        let config = loaded([
            ("GODEL_LISTEN", "localhost:0"),
            ("GODEL_RATE_TIER", "free"),
            ("GODEL_RATE_BURST", "3"),
            ("GODEL_RETENTION_DAYS", "2"),
            ("GODEL_DURABILITY", "relaxed"),
            ("GODEL_BACKUP_EVERY", "5m"),
            ("GODEL_BACKUP_DIR", "backups"),
            ("GODEL_SERVER_DRAIN_SECS", "0"),
        ])
        .server()
        .unwrap();
        assert_eq!(config.listen, "127.0.0.1:0".parse().unwrap());
        assert_eq!((config.app.rates.limit.per_minute, config.app.rates.limit.burst), (60, 3));
        assert_eq!(config.app.retention.max_age.as_hours(), 48);
        let backup = config.backup.clone().unwrap();
        assert_eq!(backup.dir, Path::new("/nowhere/godel/backups"));
        assert_eq!((backup.every.as_secs(), backup.keep), (300, 288));
        assert_eq!(config.durability, godel_store::Durability::Relaxed);
        assert_eq!(config.database_url().shown(), "sqlite:///nowhere/godel/godel.db");
    }

    #[test]
    fn what_cannot_be_served_is_refused() {
        for (variable, value, part) in [
            ("GODEL_LISTEN", "0.0.0.0:7373", "could reach 0.0.0.0:7373 without TLS"),
            ("GODEL_LISTEN", "[::]:7373", "(environment GODEL_LISTEN)"),
            ("GODEL_TLS_CERT", "/x/cert.pem", "`tls.cert` is set, but `tls.key` is not"),
            ("GODEL_TLS_KEY", "/x/key.pem", "`tls.key` is set, but `tls.cert` is not"),
            ("GODEL_LISTEN", "7373", "`listen` is not an address"),
            ("GODEL_LISTEN", "example.org:80", "`listen` is not an address"),
            ("GODEL_RATE_BURST", "0", "`rate.burst` cannot be 0 (environment GODEL_RATE_BURST)"),
            ("GODEL_RETENTION_DAYS", "0", "`retention.days` cannot be 0"),
            ("GODEL_RETENTION_TASK_DAYS", "0", "`retention.task_days` cannot be 0"),
            ("GODEL_RETENTION_DEAD_DAYS", "6", "`retention.dead_days` cannot be 6"),
            ("GODEL_RETENTION_MAX_EVENTS", "0", "`retention.max_events` cannot be 0"),
            ("GODEL_SERVER_BODY_MAX_BYTES", "7", "`server.body_max_bytes` cannot be 7"),
            ("GODEL_BACKUP_EVERY", "often", "`backup.every` is not a time"),
            ("GODEL_BACKUP_EVERY", "0s", "`backup.every` is not a time"),
            ("GODEL_BACKUP_EVERY", "5m", "`backup.every` is set and `backup.dir` is not"),
            ("GODEL_BACKUP_KEEP", "0", "`backup.keep` cannot be 0"),
            ("GODEL_PROXY_FILE", "p.toml", "`proxy.file` is no file: /nowhere/p.toml"),
            ("GODEL_REDIS_URL", "http://x", "`redis.url` begins neither with redis://"),
            ("GODEL_DATABASE_URL", "mysql://x", "the database address is not understood"),
            ("GODEL_DATABASE_URL_FILE", "/nowhere/url", "/nowhere/url could not be read"),
        ] {
            let environment = Environment::from([(variable, value)]);
            let sources = Sources {
                data: Path::new("/nowhere"),
                file: None,
                environment: &environment,
                flags: vec![],
            };
            let error = Loaded::load(&sources).unwrap().server().unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.hint().is_some(), "{error}");
        }
    }

    #[test]
    fn tls_comes_from_the_mode_or_from_files() {
        let tls = |pairs: &[(&str, &str)]| {
            let environment: Environment = pairs.iter().copied().collect();
            let sources = Sources {
                data: Path::new("/nowhere"),
                file: None,
                environment: &environment,
                flags: vec![],
            };
            Loaded::load(&sources).and_then(|loaded| loaded.server()).map(|config| config.tls)
        };
        let open = ("GODEL_LISTEN", "0.0.0.0:7373");
        assert_eq!(tls(&[]).unwrap(), Tls::Off);
        assert_eq!(tls(&[open, ("GODEL_INSECURE", "true")]).unwrap(), Tls::Off);
        let auto = ("GODEL_TLS_MODE", "auto");
        let names = ("GODEL_TLS_NAMES", "a.example, *.b.example,10.0.0.1,::2");
        let wanted = ["a.example", "*.b.example", "10.0.0.1", "::2"].map(str::to_owned).to_vec();
        assert_eq!(tls(&[open, auto, names]).unwrap(), Tls::Auto { names: wanted });
        let files = [("GODEL_TLS_CERT", "/c.pem"), ("GODEL_TLS_KEY", "/k.pem")];
        let wanted = Tls::Files { certificate: "/c.pem".into(), key: "/k.pem".into() };
        assert_eq!(tls(&[open, files[0], files[1]]).unwrap(), wanted);
        for (bad, part) in [
            (vec![auto, files[0], files[1]], "are both set"),
            (vec![auto, ("GODEL_TLS_NAMES", "host:7373")], "has a \"host:7373\" in it"),
            (vec![("GODEL_TLS_MODE", "yes")], "cannot be \"yes\""),
            (vec![("GODEL_INSECURE", "yes")], "`insecure` must be true or false"),
        ] {
            let error = tls(&bad).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.hint().is_some(), "{error}");
        }
        assert_eq!(tls(&[open]).unwrap_err().code(), code::TLS_REQUIRED);
    }

    #[test]
    fn what_is_shown_is_in_effect_and_has_no_password() {
        let loaded = loaded([
            ("GODEL_DATABASE_URL", "postgres://ann:s3cret@db:5432/x?password=s3cret"),
            ("GODEL_REDIS_URL", "redis://:s3cret@cache:6379/1"),
        ]);
        for key in Settings::keys() {
            let shown = loaded.shown(key.name).unwrap().to_string();
            assert!(!shown.contains("s3cret"), "{}", key.name);
        }
        assert_eq!(loaded.shown("redis.url").unwrap(), "redis://cache:6379/1");
        assert_eq!(loaded.shown("database.url").unwrap(), "postgres://db:5432/x");
        assert_eq!(loaded.shown("rate.per_minute").unwrap(), 6_000);
        assert_eq!(loaded.shown("otlp.endpoint").unwrap(), Value::Null);
    }
}
