use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::*;

fn listen() -> SocketAddr {
    "0.0.0.0:7373".parse().unwrap()
}

fn now() -> Timestamp {
    "2026-11-15T00:00:00Z".parse().unwrap()
}

fn days(count: i32) -> Timestamp {
    now().saturating_add(SignedDuration::from_hours(24) * count).unwrap()
}

fn auto(names: &[&str]) -> Tls {
    Tls::Auto { names: names.iter().map(|name| (*name).to_owned()).collect() }
}

fn own(keeper: &Keeper) -> Vec<u8> {
    keeper.current.0.read().unwrap().key.cert[0].to_vec()
}

fn has(der: &[u8], name: &str) -> bool {
    der.windows(name.len()).any(|window| window == name.as_bytes())
}

#[test]
fn the_authority_is_made_once_and_only_its_user_can_read_the_key() {
    let data = TempDir::new().unwrap();
    let first = Keeper::open(&auto(&[]), data.path(), listen(), now()).unwrap().unwrap();
    for (file, mode) in [("tls", 0o700), ("tls/ca-key.pem", 0o600), ("tls/ca.pem", 0o600)] {
        let found = std::fs::metadata(data.path().join(file)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{file}");
    }
    let second = Keeper::open(&auto(&["x.example"]), data.path(), listen(), days(1)).unwrap();
    let second = second.unwrap();
    assert_eq!(first.current().facts().fingerprint, second.current().facts().fingerprint);
    assert!(!has(&own(&first), "x.example") && has(&own(&second), "x.example"));
    for name in ["localhost", "x.example"] {
        assert!(has(&own(&second), name), "{name}");
    }
    let facts = inspect(&auto(&[]), data.path(), now()).unwrap().unwrap();
    assert_eq!(facts.fingerprint, first.current().facts().fingerprint);
    assert_eq!(facts.until, Some(days(3_652)));
}

#[test]
fn a_certificate_is_renewed_in_time_and_when_names_change() {
    let data = TempDir::new().unwrap();
    let mut keeper = Keeper::open(&auto(&[]), data.path(), listen(), now()).unwrap().unwrap();
    let first = own(&keeper);
    assert_eq!(keeper.current().facts().until, Some(days(90)));
    assert!(!keeper.look(days(59)));
    assert_eq!(own(&keeper), first);
    assert!(keeper.look(days(61)));
    assert_ne!(own(&keeper), first);
    assert_eq!(keeper.current().facts().until, Some(days(151)));
    let Source::Own { extra, .. } = &mut keeper.source else { panic!("its own authority") };
    extra.push("new.example".to_owned());
    assert!(keeper.look(days(61)));
    assert!(has(&own(&keeper), "new.example"));
    assert!(!keeper.look(days(61)));
}

#[test]
fn no_certificate_outlives_its_authority() {
    let data = TempDir::new().unwrap();
    Keeper::open(&auto(&[]), data.path(), listen(), now()).unwrap();
    let late = Keeper::open(&auto(&[]), data.path(), listen(), days(3_640)).unwrap().unwrap();
    assert_eq!(late.current().facts().until, Some(days(3_652)));
    let error = Keeper::open(&auto(&[]), data.path(), listen(), days(3_653)).unwrap_err();
    assert!(error.to_string().contains("ca.pem has expired"), "{error}");
}

#[test]
fn a_lost_or_foreign_key_is_not_replaced_behind_anybodys_back() {
    let (data, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for dir in [&data, &other] {
        Keeper::open(&auto(&[]), dir.path(), listen(), now()).unwrap();
    }
    let key = data.path().join("tls/ca-key.pem");
    std::fs::copy(other.path().join("tls/ca-key.pem"), &key).unwrap();
    let error = Keeper::open(&auto(&[]), data.path(), listen(), now()).unwrap_err();
    assert!(error.to_string().contains("is not the key of"), "{error}");
    std::fs::remove_file(&key).unwrap();
    assert!(Keeper::open(&auto(&[]), data.path(), listen(), now()).is_err());
    // A key whose certificate was never written is trusted by nobody.
    std::fs::copy(other.path().join("tls/ca-key.pem"), &key).unwrap();
    std::fs::remove_file(data.path().join("tls/ca.pem")).unwrap();
    Keeper::open(&auto(&[]), data.path(), listen(), now()).unwrap();
}

#[test]
fn changed_files_are_loaded_and_broken_ones_are_not() {
    let dir = TempDir::new().unwrap();
    let (certificate, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let write = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    };
    let tls = Tls::Files { certificate: certificate.clone(), key: key.clone() };
    assert!(Keeper::open(&tls, dir.path(), listen(), now()).is_err());
    write("one.example");
    let mut keeper = Keeper::open(&tls, dir.path(), listen(), now()).unwrap().unwrap();
    assert!(has(&own(&keeper), "one.example") && !keeper.look(now()));
    std::fs::write(&certificate, "broken").unwrap();
    assert!(!keeper.look(now()) && has(&own(&keeper), "one.example"));
    std::fs::remove_file(&key).unwrap();
    assert!(!keeper.look(now()) && has(&own(&keeper), "one.example"));
    write("two.example");
    assert!(keeper.look(now()) && has(&own(&keeper), "two.example"));
    let error = {
        std::fs::write(&key, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
        inspect(&tls, dir.path(), now()).unwrap_err()
    };
    assert!(error.to_string().contains("is not a key that fits"), "{error}");
}
