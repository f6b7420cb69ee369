//! A certificate from files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use godel_tls::rustls::sign::CertifiedKey;
use godel_tls::{Error, Fingerprint};

use super::{Facts, Shown};
use crate::StartError;

/// The files of a certificate and its key, and what was in them when they were last looked at.
#[derive(Debug)]
pub(super) struct Files {
    certificate: PathBuf,
    key: PathBuf,
    seen: Option<Content>,
}

#[derive(PartialEq, Eq)]
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Content(..)")
    }
}

impl Files {
    /// Loads the files for the first time.
    pub(super) fn open(certificate: &Path, key: &Path) -> Result<(Self, Shown), StartError> {
        let mut files = Self { certificate: certificate.into(), key: key.into(), seen: None };
        let content = files.read()?;
        let shown = files.load(&content)?;
        files.seen = Some(content);
        Ok((files, shown))
    }

    /// Loads the files again if they changed since they were last looked at.
    ///
    /// Those that cannot be used are complained about once, until they change again.
    pub(super) fn changed(&mut self) -> Result<Option<Shown>, StartError> {
        let content = match self.read() {
            Ok(content) => content,
            Err(_) if self.seen.is_none() => return Ok(None),
            Err(error) => {
                self.seen = None;
                return Err(error);
            }
        };
        if self.seen.as_ref() == Some(&content) {
            return Ok(None);
        }
        let loaded = self.load(&content);
        self.seen = Some(content);
        loaded.map(Some)
    }

    fn read(&self) -> Result<Content, StartError> {
        let certificate = godel_tls::read(&self.certificate)?;
        Ok(Content { certificate, key: godel_tls::read(&self.key)? })
    }

    fn load(&self, content: &Content) -> Result<Shown, StartError> {
        let chain = godel_tls::certificates(&self.certificate, &content.certificate)?;
        let own = &chain[0];
        let facts = Facts { fingerprint: Fingerprint::of(own), until: godel_tls::not_after(own) };
        let key = godel_tls::private_key(&self.key, &content.key)?;
        let key = CertifiedKey::from_der(chain, key, &godel_tls::provider()).map_err(|error| {
            let of = self.certificate.display();
            let why = format!("is not a key that fits the certificate {of}: {error}");
            Error::Content { path: self.key.clone(), why }
        })?;
        Ok(Shown { key: Arc::new(key), facts })
    }
}
