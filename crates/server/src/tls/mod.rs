//! TLS: which certificate the listener shows, and how it stays fresh without a restart.

mod authority;
mod files;
mod names;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use godel_tls::Fingerprint;
use godel_tls::rustls::ServerConfig;
use godel_tls::rustls::server::{ClientHello, ResolvesServerCert};
use godel_tls::rustls::sign::CertifiedKey;
use jiff::{SignedDuration, Timestamp};
use tokio_rustls::TlsAcceptor;

use self::authority::Authority;
use self::files::Files;
pub use self::names::is_server_name;
pub(crate) use self::names::machine as machine_name;
use crate::StartError;

/// A certificate that ends sooner than this is worth a warning.
const ENDS_SOON: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Where the server's certificate comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tls {
    /// There is none: plain HTTP.
    #[default]
    Off,
    /// Godel is its own authority, in the data directory.
    Auto {
        /// Names and addresses of this server besides those that the machine knows.
        names: Vec<String>,
    },
    /// From files, which may change while the server runs.
    Files {
        /// The server's own certificate and those between it and a root, in PEM form.
        certificate: PathBuf,
        /// The private key that belongs to it, in PEM form.
        key: PathBuf,
    },
}

impl Tls {
    /// Returns the file of the private key, on which everything rests.
    pub fn key_path(&self, data_dir: &Path) -> Option<PathBuf> {
        match self {
            Self::Off => None,
            Self::Auto { .. } => Some(authority::key_path(data_dir)),
            Self::Files { key, .. } => Some(key.clone()),
        }
    }
}

/// What a certificate says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What a client has to trust: the own authority, or the certificate itself.
    pub fingerprint: Fingerprint,
    /// Until when it is valid, if that can be read.
    pub until: Option<Timestamp>,
}

impl Facts {
    /// Tells whether it ends within two weeks.
    pub fn ends_soon(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until.duration_since(now) < ENDS_SOON)
    }
}

/// Looks at the certificate that a server would show, and changes nothing; `None` if there is none
/// yet.
///
/// # Errors
/// If its files cannot be used.
pub fn inspect(tls: &Tls, data_dir: &Path, now: Timestamp) -> Result<Option<Facts>, StartError> {
    match tls {
        Tls::Off => Ok(None),
        Tls::Auto { .. } => Ok(Authority::read(data_dir, now)?.map(|own| own.facts())),
        Tls::Files { certificate, key } => Ok(Some(Files::open(certificate, key)?.1.facts)),
    }
}

/// A certificate with its key, ready to be shown.
#[derive(Debug, Clone)]
struct Shown {
    key: Arc<CertifiedKey>,
    facts: Facts,
}

/// The certificate that the listener shows at this moment.
#[derive(Debug)]
pub(crate) struct Current(RwLock<Shown>);

impl Current {
    pub(crate) fn facts(&self) -> Facts {
        self.0.read().unwrap_or_else(PoisonError::into_inner).facts
    }

    fn replace(&self, shown: Shown) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner).key))
    }
}

#[derive(Debug)]
enum Source {
    Own { authority: Box<Authority>, listen: SocketAddr, extra: Vec<String>, names: Vec<String> },
    Files(Files),
}

/// Keeps the certificate fresh.
#[derive(Debug)]
pub(crate) struct Keeper {
    source: Source,
    current: Arc<Current>,
}

impl Keeper {
    /// Loads or makes the certificate; `None` without TLS.
    pub(crate) fn open(
        tls: &Tls,
        data_dir: &Path,
        listen: SocketAddr,
        now: Timestamp,
    ) -> Result<Option<Self>, StartError> {
        let (source, shown) = match tls {
            Tls::Off => return Ok(None),
            Tls::Auto { names: extra } => {
                let authority = Box::new(Authority::open(data_dir, now)?);
                let names = names::all(listen, extra);
                let shown = authority.issue(&names, now)?;
                (Source::Own { authority, listen, extra: extra.clone(), names }, shown)
            }
            Tls::Files { certificate, key } => {
                let (files, shown) = Files::open(certificate, key)?;
                if shown.facts.ends_soon(now) {
                    let until = shown.facts.until.map(tracing::field::display);
                    tracing::warn!(until, "the TLS certificate has ended, or ends soon");
                }
                (Source::Files(files), shown)
            }
        };
        Ok(Some(Self { source, current: Arc::new(Current(RwLock::new(shown))) }))
    }

    /// Returns what the listener shows now, and later.
    pub(crate) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current)
    }

    /// Returns what takes TLS connections, with whatever certificate is current.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut config = ServerConfig::builder_with_provider(godel_tls::provider())
            .with_safe_default_protocol_versions()
            .expect("ring speaks TLS 1.3 and 1.2")
            .with_no_client_auth()
            .with_cert_resolver(self.current());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }

    /// Makes or loads a new certificate if it is time; tells whether it did.
    pub(crate) fn look(&mut self, now: Timestamp) -> bool {
        let renewed = match &mut self.source {
            Source::Own { authority, listen, extra, names } => {
                let known = names::all(*listen, extra);
                if known == *names && !authority::is_due(&self.current.facts(), now) {
                    return false;
                }
                *names = known;
                authority.issue(names, now).map(Some)
            }
            Source::Files(files) => files.changed(),
        };
        match renewed {
            Ok(Some(shown)) => {
                let until = shown.facts.until.map(tracing::field::display);
                tracing::info!(until, "a new TLS certificate is in use");
                self.current.replace(shown);
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::error!(%error, "the TLS certificate stays as it was");
                false
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
