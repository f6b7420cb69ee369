//! Whom a client trusts.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;

use crate::verify::{Names, Verifier};
use crate::{Error, Fingerprint, provider};

/// Whom a client trusts.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// The authorities that this machine trusts.
    #[default]
    System,
    /// Certificates that one of these signed, and these themselves.
    Authorities(Vec<CertificateDer<'static>>),
    /// The certificate with this fingerprint, and what it signed.
    Fingerprint(Fingerprint),
    /// Nobody: for a client that does not speak TLS, which then need not read any roots.
    Nobody,
}

/// Sets up the client side of a connection to a server that must prove its name.
///
/// # Errors
/// If the certificates to trust cannot be used.
pub fn client_config(trust: &Trust) -> Result<ClientConfig, Error> {
    Ok(config(Verifier::new(trust, Names::Checked)?))
}

/// Sets up the client side of a connection to any server that a trusted authority has signed for,
/// whatever its name.
///
/// # Errors
/// If the certificates to trust cannot be used.
pub fn client_config_without_names(trust: &Trust) -> Result<ClientConfig, Error> {
    Ok(config(Verifier::new(trust, Names::Ignored)?))
}

/// Sets up the client side of a connection that is encrypted, to whoever answers.
///
/// It keeps out those who listen, not those who stand in between.
pub fn unproven_client_config() -> ClientConfig {
    config(Verifier::unproven())
}

fn config(verifier: Verifier) -> ClientConfig {
    ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS 1.3 and 1.2")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth()
}

/// Looks for a TLS failure among the causes of an error, and says in words what it was.
pub fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(one) = cause {
        if let Some(found) = one.downcast_ref::<rustls::Error>() {
            return Some(words(found));
        }
        // An IO error, and the error of Redis, hide what they carry from the chain of causes.
        let carried = one.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(found) = carried.and_then(|carried| refusal(carried)) {
            return Some(found);
        }
        let shared = one.downcast_ref::<Arc<dyn std::error::Error + Send + Sync>>();
        if let Some(found) = shared.and_then(|shared| refusal(shared.as_ref())) {
            return Some(found);
        }
        cause = one.source();
    }
    None
}

fn words(error: &rustls::Error) -> String {
    use rustls::CertificateError as Bad;
    let bad = match error {
        rustls::Error::InvalidCertificate(bad) => bad,
        rustls::Error::InvalidMessage(_) => return "it does not speak TLS there".to_owned(),
        other => return other.to_string(),
    };
    match bad {
        Bad::UnknownIssuer => "nobody who is trusted has signed its certificate".to_owned(),
        Bad::ApplicationVerificationFailure => {
            "its certificates do not have the fingerprint that was given".to_owned()
        }
        Bad::Expired | Bad::ExpiredContext { .. } => "its certificate has expired".to_owned(),
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
            "its certificate is not valid yet; is a clock wrong?".to_owned()
        }
        Bad::NotValidForName => "its certificate is for another name".to_owned(),
        Bad::NotValidForNameContext { expected, presented } => format!(
            "its certificate is not for {}, but for {}",
            expected.to_str(),
            presented.join(", ")
        ),
        other => format!("its certificate is not accepted: {other}"),
    }
}
