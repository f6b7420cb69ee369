//! TLS to PostgreSQL, against servers that really speak it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use godel_engines::{Binaries, Places, Postgres};
use godel_model::{EventFilter, Report as _, code};
use godel_store::{Config, Error, Scope, Store};
use godel_testkit::{Authority, Database, World, postgres_url};
use tempfile::TempDir;

struct Files {
    folder: TempDir,
    own: Authority,
}

impl Files {
    fn new() -> Self {
        let (folder, own) = (TempDir::new().unwrap(), Authority::new("own"));
        std::fs::write(folder.path().join("own.pem"), own.pem()).unwrap();
        std::fs::write(folder.path().join("other.pem"), Authority::new("other").pem()).unwrap();
        std::fs::write(folder.path().join("empty.pem"), "nothing\n").unwrap();
        Self { folder, own }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn binaries() -> Binaries {
    Binaries::find(&Places::from_env())
}

async fn schema(url: String) -> Result<(), Error> {
    Store::schema(&Config::new(url.parse()?)).await.map(drop)
}

/// Tells whether all connections of Godel to a database are encrypted, and how many there are.
fn encrypted(url: &str) -> (bool, i64) {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let row = client
        .query_one(
            "SELECT bool_and(ssl), count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
             WHERE application_name = 'godel' AND datname = current_database()",
            &[],
        )
        .unwrap();
    (row.get::<_, Option<bool>>(0).unwrap_or_default(), row.get(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_spoken_to_as_its_address_asks() {
    if postgres_url().is_none() {
        return;
    }
    let files = Files::new();
    let own = files.own.sign(&["localhost"]);
    let postgres = blocking(move || Postgres::start_with_tls(&binaries(), &own).unwrap()).await;
    let base = format!("localhost:{}/postgres", postgres.port());
    let with = |host: &str, query: String| {
        format!("postgres://postgres@{}?{query}", base.replace("localhost", host))
    };
    let full = |ca: &str| format!("sslmode=verify-full&sslrootcert={}", files.path(ca));

    // All connections of a server: lanes, readers, and the one that listens.
    let world = World::on(Database::postgres(postgres.url("postgres"))).await;
    let shown = world.config.url.shown();
    let database = shown.rsplit_once('/').unwrap().1.to_owned();
    let url = with("localhost", full("own.pem")).replace("/postgres?", &format!("/{database}?"));
    let store = Store::open(&Config::new(url.parse().unwrap())).await.unwrap();
    let mut tail = store.tail(world.tenant, None, EventFilter::all()).await.unwrap();
    world.store.close().await;
    let draft = world.draft("test:tls", "{}");
    let scope = Scope::Tenant(world.tenant);
    store.write(scope, move |tx| tx.record(draft.clone())).await.unwrap();
    assert_eq!(tail.next(10).await.unwrap().events.len(), 1);
    let plain = postgres.url(&database);
    let (all, count) = blocking(move || encrypted(&plain)).await;
    assert!(all && count >= 3, "{count} connections, all encrypted: {all}");
    store.close().await;

    for good in [
        with("localhost", full("own.pem")),
        with("127.0.0.1", "sslmode=require".to_owned()),
        with("127.0.0.1", "sslmode=prefer".to_owned()),
        with("127.0.0.1", "sslmode=disable".to_owned()),
        with("127.0.0.1", full("own.pem").replace("full", "ca")),
    ] {
        assert!(schema(good.clone()).await.is_ok(), "{good}");
    }
    for (bad, part) in [
        (with("localhost", full("other.pem")), "nobody who is trusted has signed"),
        (with("localhost", "sslmode=verify-full".to_owned()), "its certificate"),
        (with("127.0.0.1", full("own.pem")), "is not for 127.0.0.1, but for"),
        // With a root, `require` is as strict as `verify-ca`.
        (with("localhost", full("other.pem").replace("verify-full", "require")), "signed"),
    ] {
        let error = schema(bad.clone()).await.unwrap_err();
        assert_eq!(error.code(), code::CERTIFICATE_UNTRUSTED, "{bad}: {error}");
        assert!(error.to_string().contains(part), "{bad}: {error}");
    }
    for file in ["empty.pem", "missing.pem"] {
        let error = schema(with("localhost", full(file))).await.unwrap_err();
        assert_eq!(error.code(), code::CERTIFICATE_INVALID, "{error}");
        assert!(error.to_string().contains(&files.path(file)), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_without_tls_is_refused_only_if_tls_was_asked_for() {
    let Some(server) = postgres_url() else { return };
    let error = schema(format!("{server}?sslmode=require")).await.unwrap_err();
    assert!(error.to_string().contains("server does not support TLS"), "{error}");
    assert!(schema(format!("{server}?sslmode=prefer")).await.is_ok());
}

/// Says yes to TLS and then talks nonsense; returns how often TLS was asked for in two connections.
fn broken_tls(listener: &TcpListener) -> usize {
    const ASKS_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F];
    let mut asked = 0;
    for _ in 0..2 {
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = [0; 8];
        stream.read_exact(&mut first).unwrap();
        if first == ASKS_FOR_TLS {
            asked += 1;
            stream.write_all(b"Snonsense").unwrap();
        }
    }
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_that_is_only_preferred_is_done_without_if_it_fails() {
    for (mode, asked) in [("prefer", 1), ("require", 2)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://x@{}/x?sslmode={mode}", listener.local_addr().unwrap());
        let server = tokio::task::spawn_blocking(move || broken_tls(&listener));
        assert!(schema(url.clone()).await.is_err());
        if mode == "require" {
            assert!(schema(url).await.is_err());
        }
        assert_eq!(server.await.unwrap(), asked, "{mode}");
    }
}
