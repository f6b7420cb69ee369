//! TLS to a Redis that really speaks it.

use godel_engines::{Binaries, Places, Redis};
use godel_hints::Hints;
use godel_model::{Report as _, code};
use godel_testkit::Authority;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_spoken_to_by_tls_if_its_address_says_so() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let (folder, authority) = (TempDir::new().unwrap(), Authority::new("own"));
    let other = Authority::new("other");
    for (name, text) in [("own", authority.pem()), ("other", other.pem()), ("empty", "nothing\n")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let own = authority.sign(&["127.0.0.1"]);
    let start = move || Redis::start_with_tls(&Binaries::find(&Places::from_env()), &own).unwrap();
    let redis = tokio::task::spawn_blocking(start).await.unwrap();
    assert!(redis.url().starts_with("rediss://"));
    let with = |ca: &str| format!("{}?ca={}", redis.url(), folder.path().join(ca).display());
    let hints = Hints::connect(&with("own")).await.unwrap();
    hints.probe().await.unwrap();
    for bad in [with("other"), redis.url()] {
        let error = Hints::connect(&bad).await.unwrap_err();
        assert_eq!(error.code(), code::CERTIFICATE_UNTRUSTED, "{bad}: {error:?}");
    }
    let error = Hints::connect(&with("empty")).await.unwrap_err();
    assert_eq!(error.code(), code::CERTIFICATE_INVALID, "{error}");
    let plain = redis.url().replace("rediss", "redis");
    assert!(Hints::connect(&plain).await.is_err());
}
