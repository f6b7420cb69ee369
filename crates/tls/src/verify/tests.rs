use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::*;

const NOW_SECS: u64 = 1_800_000_000;

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    Authority { issuer: Issuer::new(params, key), certificate }
}

fn signed(by: &Authority, name: &str) -> CertificateDer<'static> {
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.signed_by(&KeyPair::generate().unwrap(), &by.issuer).unwrap().der().clone()
}

fn judge(
    verifier: &Verifier,
    own: &CertificateDer<'_>,
    chain: &[CertificateDer<'_>],
    name: &str,
) -> Result<(), TlsError> {
    let name = ServerName::try_from(name).unwrap();
    let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(NOW_SECS));
    verifier.verify_server_cert(own, chain, &name, &[], now).map(drop)
}

fn verifier(trust: &Trust) -> Verifier {
    Verifier::new(trust, Names::Checked).unwrap()
}

#[test]
fn an_authority_vouches_for_what_it_signed_and_for_the_right_name() {
    let (own, other) = (authority(), authority());
    let (good, bad) = (signed(&own, "db.example"), signed(&other, "db.example"));
    let trust = Trust::Authorities(vec![own.certificate.clone()]);
    assert_eq!(judge(&verifier(&trust), &good, &[], "db.example"), Ok(()));
    assert!(judge(&verifier(&trust), &bad, &[], "db.example").is_err());
    assert!(judge(&verifier(&trust), &good, &[], "other.example").is_err());
    let nameless = Verifier::new(&trust, Names::Ignored).unwrap();
    assert_eq!(judge(&nameless, &good, &[], "other.example"), Ok(()));
    assert!(judge(&nameless, &bad, &[], "db.example").is_err());
    assert!(judge(&verifier(&Trust::Nobody), &good, &[], "db.example").is_err());
    assert_eq!(judge(&Verifier::unproven(), &bad, &[], "any.example"), Ok(()));
}

#[test]
fn a_server_that_signed_for_itself_is_trusted_if_its_certificate_was_given() {
    let mut params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
    // As `openssl req -x509` makes them.
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone();
    let trust = verifier(&Trust::Authorities(vec![own.clone()]));
    assert_eq!(judge(&trust, &own, &[], "db.example"), Ok(()));
    assert!(judge(&trust, &own, &[], "other.example").is_err());
}

#[test]
fn a_fingerprint_pins_an_authority_or_a_certificate() {
    let (own, other) = (authority(), authority());
    let leaf = signed(&own, "host.example");
    let chain = [own.certificate.clone()];
    let pin = verifier(&Trust::Fingerprint(Fingerprint::of(&own.certificate)));
    assert_eq!(judge(&pin, &leaf, &chain, "host.example"), Ok(()));
    assert!(judge(&pin, &leaf, &chain, "other.example").is_err());
    assert!(judge(&pin, &leaf, &[], "host.example").is_err(), "the authority is not shown");
    // Showing the right authority beside a certificate that it did not sign proves nothing.
    let forged = signed(&other, "host.example");
    assert!(judge(&pin, &forged, &chain, "host.example").is_err());
    let exact = verifier(&Trust::Fingerprint(Fingerprint::of(&leaf)));
    assert_eq!(judge(&exact, &leaf, &[], "other.example"), Ok(()));
    assert!(judge(&exact, &forged, &chain, "host.example").is_err());
}

#[test]
fn a_file_without_certificates_is_no_authority() {
    assert!(Verifier::new(&Trust::Authorities(vec![]), Names::Checked).is_err());
}
