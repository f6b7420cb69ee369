//! Godel's own authority, which signs the certificate of this server and no other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use godel_safe::{make_private_dir, write_private};
use godel_tls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use godel_tls::rustls::sign::CertifiedKey;
use godel_tls::{Error, Fingerprint};
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData as _,
};
use time::OffsetDateTime;

use super::{Facts, Shown};
use crate::StartError;

/// The folder in the data directory, and the files in it.
const FOLDER: &str = "tls";
const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca-key.pem";

const DAY: SignedDuration = SignedDuration::from_hours(24);
/// How long the authority lasts: clients must trust a new one afterwards.
const AUTHORITY_DAYS: i32 = 3_652;
/// How long a certificate of the server lasts, and when the next one is made.
const SERVER_DAYS: i32 = 90;
const RENEW_DAYS: i32 = 30;
/// How wrong the clock of a client may be.
const SKEW: SignedDuration = SignedDuration::from_hours(1);

/// Tells whether the next certificate should be made.
pub(super) fn is_due(facts: &Facts, now: Timestamp) -> bool {
    facts.until.is_none_or(|until| until.duration_since(now) < DAY * RENEW_DAYS)
}

/// Returns the file of the authority's private key.
pub(super) fn key_path(data_dir: &Path) -> PathBuf {
    data_dir.join(FOLDER).join(KEY)
}

/// Godel's own authority.
#[derive(Debug)]
pub(super) struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    until: Timestamp,
}

impl Authority {
    /// Takes the authority of a data directory, or makes it.
    pub(super) fn open(data_dir: &Path, now: Timestamp) -> Result<Self, StartError> {
        if let Some(kept) = Self::read(data_dir, now)? {
            return Ok(kept);
        }
        let folder = data_dir.join(FOLDER);
        make_private_dir(&folder)
            .map_err(|cause| StartError::File { path: folder.clone(), cause })?;
        let key = new_key()?;
        let mut params = params(&key)?;
        params.not_before = date(now.saturating_sub(SKEW).unwrap_or(now));
        params.not_after = date(after(now, AUTHORITY_DAYS));
        let certificate = params.self_signed(&key).map_err(failed)?;
        // The certificate comes last: without it, nobody has trusted the key yet.
        write(&key_path(data_dir), &key.serialize_pem())?;
        write(&folder.join(CERTIFICATE), &certificate.pem())?;
        let fingerprint = Fingerprint::of(certificate.der());
        tracing::info!(%fingerprint, folder = %folder.display(), "a new TLS authority was made");
        Self::from_parts(certificate.der().clone(), key, now, &folder)
    }

    /// Takes the authority of a data directory, if there is one.
    pub(super) fn read(data_dir: &Path, now: Timestamp) -> Result<Option<Self>, StartError> {
        let folder = data_dir.join(FOLDER);
        let (certificate, key) = (folder.join(CERTIFICATE), key_path(data_dir));
        if !certificate.exists() {
            return Ok(None);
        }
        let chain = godel_tls::read_certificates(&certificate)?;
        let pem = godel_tls::read(&key)?;
        let der = godel_tls::private_key(&key, &pem)?;
        let fit = CertifiedKey::from_der(chain.clone(), der, &godel_tls::provider());
        let own = fit.ok().and_then(|_| KeyPair::from_pem(std::str::from_utf8(&pem).ok()?).ok());
        let Some(own) = own else {
            let why = format!("is not the key of {}", certificate.display());
            return Err(bad(key, why));
        };
        Self::from_parts(chain[0].clone(), own, now, &folder).map(Some)
    }

    fn from_parts(
        certificate: CertificateDer<'static>,
        key: KeyPair,
        now: Timestamp,
        folder: &Path,
    ) -> Result<Self, StartError> {
        let until = godel_tls::not_after(&certificate).unwrap_or(Timestamp::MIN);
        if until < now {
            let why = "has expired; remove it, and clients trust the next one".to_owned();
            return Err(bad(folder.join(CERTIFICATE), why));
        }
        if until.duration_since(now) < DAY * 365 {
            tracing::warn!(%until, "the TLS authority ends within a year");
        }
        let issuer = Issuer::new(params(&key)?, key);
        Ok(Self { certificate, issuer, until })
    }

    /// Returns what clients trust, and until when.
    pub(super) fn facts(&self) -> Facts {
        Facts { fingerprint: Fingerprint::of(&self.certificate), until: Some(self.until) }
    }

    /// Signs a new certificate with a new key, which never touches the disk.
    pub(super) fn issue(&self, names: &[String], now: Timestamp) -> Result<Shown, StartError> {
        let key = new_key()?;
        let until = after(now, SERVER_DAYS).min(self.until);
        let mut params = CertificateParams::new(names).map_err(failed)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "Godel");
        params.not_before = date(now.saturating_sub(SKEW).unwrap_or(now));
        params.not_after = date(until);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let signed = params.signed_by(&key, &self.issuer).map_err(failed)?;
        // The authority is shown too: a client may know no more of it than its fingerprint.
        let chain = vec![signed.der().clone(), self.certificate.clone()];
        let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let key = CertifiedKey::from_der(chain, der, &godel_tls::provider()).map_err(failed)?;
        Ok(Shown { key: Arc::new(key), facts: Facts { until: Some(until), ..self.facts() } })
    }
}

/// Describes the authority. Its name follows from its key, so that the certificate need not be read.
fn params(key: &KeyPair) -> Result<CertificateParams, StartError> {
    let mut params = CertificateParams::new(vec![]).map_err(failed)?;
    let id = Fingerprint::of(&key.subject_public_key_info()).to_string().replace(':', "");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "Godel");
    params.distinguished_name.push(DnType::CommonName, format!("Godel authority {}", &id[..8]));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn new_key() -> Result<KeyPair, StartError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)
}

fn after(now: Timestamp, days: i32) -> Timestamp {
    let later = now.saturating_add(DAY * days).unwrap_or(Timestamp::MAX);
    // A certificate counts in whole seconds.
    Timestamp::from_second(later.as_second()).unwrap_or(later)
}

fn date(at: Timestamp) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(at.as_second()).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn write(path: &Path, text: &str) -> Result<(), StartError> {
    write_private(path, text.trim_end())
        .map_err(|cause| StartError::File { path: path.to_owned(), cause })
}

fn bad(path: PathBuf, why: String) -> StartError {
    StartError::Certificate(Error::Content { path, why })
}

fn failed(error: impl std::fmt::Display) -> StartError {
    StartError::Signing(error.to_string())
}
