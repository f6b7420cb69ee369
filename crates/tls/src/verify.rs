//! Judging the certificate that a server shows.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use crate::{Error, Fingerprint, Trust, provider};

/// Whether the name that was called must be one of the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Checked,
    Ignored,
}

#[derive(Debug)]
enum Check {
    System(rustls_platform_verifier::Verifier),
    Authorities(Arc<WebPkiServerVerifier>, Vec<CertificateDer<'static>>),
    Fingerprint(Fingerprint),
    Nobody,
    Anybody,
}

/// Judges the certificate that a server shows.
#[derive(Debug)]
pub(crate) struct Verifier {
    provider: Arc<CryptoProvider>,
    check: Check,
    names: Names,
}

/// What a server shows, and when.
struct Shown<'a> {
    own: &'a CertificateDer<'a>,
    chain: &'a [CertificateDer<'a>],
    name: &'a ServerName<'a>,
    ocsp: &'a [u8],
    now: UnixTime,
}

impl Shown<'_> {
    fn judged_by(&self, other: &dyn ServerCertVerifier) -> Result<ServerCertVerified, TlsError> {
        other.verify_server_cert(self.own, self.chain, self.name, self.ocsp, self.now)
    }
}

impl Verifier {
    pub(crate) fn new(trust: &Trust, names: Names) -> Result<Self, Error> {
        let provider = provider();
        let check = match trust {
            Trust::System => {
                let system = rustls_platform_verifier::Verifier::new(Arc::clone(&provider));
                Check::System(system.map_err(|error| Error::Roots(error.to_string()))?)
            }
            Trust::Authorities(own) => {
                Check::Authorities(authorities(own, &provider)?, own.clone())
            }
            Trust::Fingerprint(fingerprint) => Check::Fingerprint(*fingerprint),
            Trust::Nobody => Check::Nobody,
        };
        Ok(Self { provider, check, names })
    }

    pub(crate) fn unproven() -> Self {
        Self { provider: provider(), check: Check::Anybody, names: Names::Ignored }
    }

    fn judge(&self, shown: &Shown<'_>) -> Result<ServerCertVerified, TlsError> {
        match &self.check {
            Check::System(system) => shown.judged_by(system),
            Check::Authorities(verifier, known) => {
                // A server that signed for itself shows the very certificate that was given.
                if known.iter().any(|known| known.as_ref() == shown.own.as_ref()) {
                    verify_server_name(&ParsedCertificate::try_from(shown.own)?, shown.name)?;
                    return Ok(ServerCertVerified::assertion());
                }
                shown.judged_by(verifier.as_ref())
            }
            Check::Fingerprint(wanted) => self.pinned(*wanted, shown),
            Check::Nobody => Err(TlsError::InvalidCertificate(CertificateError::UnknownIssuer)),
            Check::Anybody => Ok(ServerCertVerified::assertion()),
        }
    }

    fn pinned(
        &self,
        wanted: Fingerprint,
        shown: &Shown<'_>,
    ) -> Result<ServerCertVerified, TlsError> {
        if Fingerprint::of(shown.own) == wanted {
            // It is this very certificate; a name could prove no more.
            return Ok(ServerCertVerified::assertion());
        }
        let authority = shown.chain.iter().find(|one| Fingerprint::of(one) == wanted);
        let Some(authority) = authority else {
            let none = CertificateError::ApplicationVerificationFailure;
            return Err(TlsError::InvalidCertificate(none));
        };
        let verifier = authorities(&[authority.clone().into_owned()], &self.provider)
            .map_err(|_| TlsError::InvalidCertificate(CertificateError::BadEncoding))?;
        shown.judged_by(verifier.as_ref())
    }
}

fn authorities(
    certificates: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let fail = |error: &dyn std::fmt::Display| Error::Roots(error.to_string());
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate.clone()).map_err(|error| fail(&error))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| fail(&error))
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let shown = Shown {
            own: end_entity,
            chain: intermediates,
            name: server_name,
            ocsp: ocsp_response,
            now,
        };
        match self.judge(&shown) {
            // The name is judged last, so everything else was right.
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.names == Names::Ignored => Ok(ServerCertVerified::assertion()),
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[path = "verify/tests.rs"]
mod tests;
