//! Who is trusted on a TLS connection, and the one set-up of rustls.
//!
//! Clients, the listener, PostgreSQL and Redis all take their cryptography from here, so that there
//! is one answer to which versions are spoken and how a certificate is judged.
//!
//! # Invariants
//! - TLS 1.3 and 1.2 are spoken, nothing older.
//! - A [`Trust`] never accepts a certificate that it cannot trace to what it was given. The one way
//!   to encrypt without proof has a name of its own: [`unproven_client_config`].
//! - Nothing here connects, listens or reads a clock.

mod fingerprint;
mod trust;
mod validity;
mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use rustls;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub use self::fingerprint::{Fingerprint, NotAFingerprint};
pub use self::trust::{
    Trust, client_config, client_config_without_names, refusal, unproven_client_config,
};
pub use self::validity::not_after;

/// What can go wrong before anybody is spoken to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("{} cannot be read: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("{} {why}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The certificates of this machine, or those that were given, cannot be used.
    #[error("the certificates to trust cannot be used: {0}")]
    Roots(String),
}

/// Returns the cryptography that everything uses.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Makes the cryptography known to libraries that ask the process for it.
pub fn install() {
    // It fails when it was done before, which is as good.
    provider().as_ref().clone().install_default().ok();
}

/// Reads the certificates of a PEM file.
///
/// # Errors
/// If the file cannot be read or holds none.
pub fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    certificates(path, &read(path)?)
}

/// Takes the certificates out of the text of a PEM file.
///
/// # Errors
/// If it holds none; `path` is named then.
pub fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, PemError> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => {
            let why = "holds no certificate in PEM form".to_owned();
            Err(Error::Content { path: path.to_owned(), why })
        }
    }
}

/// Takes the private key out of the text of a PEM file.
///
/// # Errors
/// If it holds none; `path` is named then.
pub fn private_key(path: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| Error::Content {
        path: path.to_owned(),
        why: "holds no private key in PEM form that is not encrypted".to_owned(),
    })
}

/// Reads a file, and names it if that fails.
///
/// # Errors
/// If the file cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|cause| Error::File { path: path.to_owned(), cause })
}
