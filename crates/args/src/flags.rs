//! Options that several commands share.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;

/// One setting that was given as a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag<'a> {
    /// The setting.
    pub key: &'static str,
    /// The flag.
    pub flag: &'static str,
    /// What was given.
    pub value: Cow<'a, str>,
}

/// Settings that can be given as flags; they win over the environment and the file.
#[derive(Debug, Clone, Default, Args)]
pub struct SettingFlags {
    /// Listen on this address of this machine [default: 127.0.0.1:7373]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    #[command(flatten)]
    pub tls: TlsFlags,
    #[command(flatten)]
    pub database: DatabaseFlag,
    /// Share rate limits between servers over Redis, such as redis://127.0.0.1:6379
    #[arg(long, value_name = "URL")]
    pub redis: Option<String>,
    /// Log this much: error, warn, info, debug, trace [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// Log as text or json; auto is text on a terminal [default: auto]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
}

/// How the server proves who it is, as flags.
#[derive(Debug, Clone, Default, Args)]
pub struct TlsFlags {
    /// Speak TLS: auto makes an authority of the server's own and keeps its certificate fresh
    /// [default: off]
    #[arg(long = "tls", value_name = "MODE")]
    pub mode: Option<String>,
    /// Speak TLS with the certificate in this PEM file
    #[arg(long = "tls-cert", value_name = "FILE")]
    pub cert: Option<String>,
    /// The PEM file with the private key of the certificate
    #[arg(long = "tls-key", value_name = "FILE")]
    pub key: Option<String>,
    /// One more name or address of this server, for --tls auto; may be given several times
    #[arg(long = "tls-name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Let other machines reach the server without TLS
    #[arg(long)]
    pub insecure: bool,
}

impl TlsFlags {
    /// Returns the flags that were given.
    fn flags(&self) -> Vec<Flag<'_>> {
        let names = (!self.names.is_empty()).then(|| Cow::from(self.names.join(",")));
        [
            ("tls.mode", "--tls", self.mode.as_deref().map(Cow::from)),
            ("tls.cert", "--tls-cert", self.cert.as_deref().map(Cow::from)),
            ("tls.key", "--tls-key", self.key.as_deref().map(Cow::from)),
            ("tls.names", "--tls-name", names),
            ("insecure", "--insecure", self.insecure.then_some(Cow::from("true"))),
        ]
        .into_iter()
        .filter_map(|(key, flag, value)| Some(Flag { key, flag, value: value? }))
        .collect()
    }
}

/// What to back up, and where to.
#[derive(Debug, Clone, Args)]
pub struct Backup {
    /// The file to write, or - for stdout
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Check a backup instead of making one: is it whole, and is every byte as it was written?
    #[arg(long, conflicts_with_all = ["force", "database"])]
    pub verify: bool,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub database: DatabaseFlag,
}

/// The database as a flag.
#[derive(Debug, Clone, Default, Args)]
pub struct DatabaseFlag {
    /// Keep data in this database: sqlite:///path/to/file or postgres://user@host/name; a password
    /// belongs into GODEL_DATABASE_URL, where other users cannot see it
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
}

impl DatabaseFlag {
    /// Returns the flag, if given.
    pub fn flags(&self) -> Vec<Flag<'_>> {
        let value = self.database.as_deref();
        value
            .map(|value| Flag { key: "database.url", flag: "--database", value: value.into() })
            .into_iter()
            .collect()
    }
}

impl SettingFlags {
    /// Returns the flags that were given.
    pub fn flags(&self) -> Vec<Flag<'_>> {
        let own = [
            ("listen", "--listen", &self.listen),
            ("redis.url", "--redis", &self.redis),
            ("log.level", "--log-level", &self.log_level),
            ("log.format", "--log-format", &self.log_format),
        ];
        let own = own.into_iter().filter_map(|(key, flag, value)| {
            value.as_deref().map(|value| Flag { key, flag, value: value.into() })
        });
        self.database.flags().into_iter().chain(self.tls.flags()).chain(own).collect()
    }
}
