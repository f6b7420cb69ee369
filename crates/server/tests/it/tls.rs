//! TLS, as clients see it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use godel_api::{Client, ClientError, Discovery, Trust};
use godel_engines::Certificate;
use godel_model::{Report as _, code};
use godel_server::{Config, Tls};
use godel_testkit::Authority;
use godel_tls::rustls::{self, ProtocolVersion};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::harness::{Running, SOON, data, server_with};

fn auto(config: &mut Config) {
    config.tls = Tls::Auto { names: vec!["godel.example".to_owned()] };
}

/// Trusts the authority of a server's data directory and nobody else.
fn own(server: &Running) -> Trust {
    let path = server.data.path().join("tls/ca.pem");
    Trust::Authorities(godel_tls::read_certificates(&path).unwrap())
}

fn http(trust: &Trust) -> reqwest::Client {
    let mut config = godel_tls::client_config(trust).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    reqwest::Client::builder().no_proxy().tls_backend_preconfigured(config).build().unwrap()
}

async fn encrypted(server: &Running) -> Encrypted {
    let config = godel_tls::client_config(&own(server)).unwrap();
    connect(&server.url, config).await.unwrap()
}

type Encrypted = TlsStream<TcpStream>;

async fn connect(url: &str, config: rustls::ClientConfig) -> std::io::Result<Encrypted> {
    let address = url.trim_start_matches("https://");
    let stream = TcpStream::connect(address).await?;
    let name = "localhost".try_into().unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_those_who_trust_the_authority_get_an_answer() {
    let mut server = server_with(auto).await;
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    server.http = http(&own(&server));
    let answer = server.get("/health").await;
    assert_eq!((answer.status(), answer.version()), (StatusCode::OK, http::Version::HTTP_2));
    assert!(answer.headers().get("strict-transport-security").is_none());
    let detailed: Value = server.get("/health/detailed").await.json().await.unwrap();
    let protection = &detailed["protection"];
    assert_eq!((&protection["tls"], &protection["insecure"]), (&json!(true), &json!(false)));
    assert!(protection["expiresAt"].is_string(), "{protection}");

    let shown = protection["fingerprint"].as_str().unwrap();
    let pinned = Trust::Fingerprint(shown.parse().unwrap());
    let client = |trust| Client::builder(&server.url).trust(trust).build().unwrap();
    client(pinned).health().await.unwrap();
    let found = Discovery::read(server.data.path()).unwrap().unwrap();
    client(found.trust()).health().await.unwrap();
    let stranger = "00".repeat(32).parse().unwrap();
    for wrong in [Trust::System, Trust::Nobody, Trust::Fingerprint(stranger)] {
        let error = client(wrong).health().await.unwrap_err();
        assert!(matches!(error, ClientError::Untrusted { .. }), "{error:?}");
        assert_eq!(error.code(), code::CERTIFICATE_UNTRUSTED);
    }
    // A name that the certificate has is a name of the server, one that it has not is none.
    let port = server.url.rsplit_once(':').unwrap().1.parse().unwrap();
    for (name, good) in [("godel.example", true), ("evil.example", false)] {
        let mut config = godel_tls::client_config(&own(&server)).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let http = reqwest::Client::builder()
            .no_proxy()
            .resolve(name, ([127, 0, 0, 1], port).into())
            .tls_backend_preconfigured(config)
            .build()
            .unwrap();
        let answer = http.get(format!("https://{name}:{port}/health")).send().await;
        assert_eq!(answer.is_ok_and(|answer| answer.status() == 200), good, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_session_over_http2_is_secure() {
    let mut server = server_with(auto).await;
    server.http = http(&own(&server));
    let login = server.post("/auth/login", json!({ "key": server.key })).await;
    let set = login.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(set.ends_with("; Secure") && set.contains("HttpOnly"), "{set}");
    let cookie = set.split_once(';').unwrap().0;
    let csrf = data(login, StatusCode::OK).await["csrfToken"].as_str().unwrap().to_owned();
    let publish = |origin: &str| {
        let request = server.http.request(Method::POST, format!("{}/api/v1/events", server.url));
        let request = request.header("cookie", cookie).header("x-godel-csrf", &csrf);
        request.header("origin", origin).json(&json!({ "type": "test:tls" })).send()
    };
    // HTTP/2 has no `Host` header to compare the origin with.
    data(publish(&server.url).await.unwrap(), StatusCode::CREATED).await;
    let foreign = publish("https://evil.example").await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_and_streams_work_encrypted() {
    let mut server = server_with(auto).await;
    server.http = http(&own(&server));
    let address = server.url.trim_start_matches("https://").to_owned();
    let mut request = format!("wss://{address}/events").into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", "godel-events-v1".parse().unwrap());
    headers.insert("authorization", format!("Bearer {}", server.key).parse().unwrap());
    let (mut socket, _) = client_async(request, encrypted(&server).await).await.unwrap();
    let subscribe =
        json!({ "id": "s", "type": "subscribe", "payload": { "patterns": ["test:*"] } });
    socket.send(Message::text(subscribe.to_string())).await.unwrap();
    let mut next = async || {
        let message = tokio::time::timeout(SOON, socket.next()).await.unwrap().unwrap().unwrap();
        serde_json::from_str::<Value>(message.to_text().unwrap()).unwrap()
    };
    assert_eq!(next().await["payload"]["success"], true);
    let key = server.key.parse().unwrap();
    let client = Client::builder(&server.url).key(Some(key)).trust(own(&server)).build().unwrap();
    let mut own = client.socket("/events", &[], "godel-events-v1").await.unwrap();
    assert!(own.text(json!({ "id": "p", "type": "ping" }).to_string()).await);
    let pong = tokio::time::timeout(SOON, own.next()).await.unwrap();
    assert!(matches!(&pong, godel_api::Heard::Text(text) if text.contains("pong")), "{pong:?}");
    let mut stream = client.follow(vec!["test:*".to_owned()], Some(0));
    server.publish("test:tls").await;
    assert_eq!(next().await["payload"]["type"], "test:tls");
    let item = tokio::time::timeout(SOON, stream.next()).await.unwrap().unwrap();
    assert!(format!("{item:?}").contains("test:tls"), "{item:?}");
    server.begin_stop();
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_1_3_or_1_2_and_nothing_older() {
    let server = server_with(auto).await;
    let newest = encrypted(&server).await;
    assert_eq!(newest.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    let mut roots = rustls::RootCertStore::empty();
    let Trust::Authorities(own) = own(&server) else { panic!("authorities") };
    roots.add(own[0].clone()).unwrap();
    let older = rustls::ClientConfig::builder_with_provider(godel_tls::provider())
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let older = connect(&server.url, older).await.unwrap();
    assert_eq!(older.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_2));
    // A greeting of TLS 1.1 with one cipher is answered by an alert: protocol version.
    let mut hello = vec![0x16, 3, 1, 0, 55, 1, 0, 0, 51, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0, 0x2F, 1, 0, 0, 8, 0, 13, 0, 4, 0, 2, 4, 3]);
    let mut stream = TcpStream::connect(server.url.trim_start_matches("https://")).await.unwrap();
    stream.write_all(&hello).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!((answer[0], answer[6]), (0x15, 70), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_is_told_to_use_https() {
    let server = server_with(auto).await;
    let plain = server.url.replace("https", "http");
    let answer = server.http.get(format!("{plain}/health")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["error"]["code"], "tls_required");
    // And TLS to a plain port fails with a word that helps.
    let plain = server_with(|_| {}).await;
    let client = Client::new(&plain.url.replace("http", "https"), None).unwrap();
    let error = client.health().await.unwrap_err();
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_machines_are_served_with_tls_or_when_somebody_insists() {
    let open = |config: &mut Config| config.listen = "0.0.0.0:0".parse().unwrap();
    let insecure = |config: &mut Config| {
        open(config);
        config.insecure = true;
    };
    let server = server_with(insecure).await;
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let detailed: Value = server.get("/health/detailed").await.json().await.unwrap();
    assert_eq!(detailed["protection"], json!({ "tls": false, "insecure": true }));
    assert!(Discovery::read(server.data.path()).unwrap().unwrap().insecure);
    let named = server.request(Method::GET, "/health").header("host", "godel.example");
    assert_eq!(named.send().await.unwrap().status(), StatusCode::OK);

    // On loopback there is nothing to insist on, and foreign names are refused as ever.
    let server = server_with(|config| config.insecure = true).await;
    let named = server.request(Method::GET, "/health").header("host", "godel.example");
    assert_eq!(named.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let detailed: Value = server.get("/health/detailed").await.json().await.unwrap();
    assert_eq!(detailed["protection"]["insecure"], false);

    let mut server = server_with(|config| {
        open(config);
        auto(config);
    })
    .await;
    server.http = http(&own(&server));
    let detailed: Value = server.get("/health/detailed").await.json().await.unwrap();
    assert_eq!(detailed["protection"]["insecure"], false);
}

fn write(folder: &Path, made: &Certificate) {
    std::fs::write(folder.join("cert.pem"), &made.certificate).unwrap();
    std::fs::write(folder.join("key.pem"), &made.key).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_from_files_is_followed_when_it_changes() {
    let (folder, authority) = (TempDir::new().unwrap(), Authority::new("company"));
    write(folder.path(), &authority.sign(&["localhost", "127.0.0.1"]));
    let mut server = server_with(|config| {
        config.listen = "0.0.0.0:0".parse().unwrap();
        let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        config.tls = Tls::Files { certificate, key };
        config.tls_check = Duration::from_millis(20);
    })
    .await;
    let pem = folder.path().join("ca.pem");
    std::fs::write(&pem, authority.pem()).unwrap();
    let trust = Trust::Authorities(godel_tls::read_certificates(&pem).unwrap());
    server.http = http(&trust);
    let answer = server.get("/health").await;
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
    let first = Discovery::read(server.data.path()).unwrap().unwrap();
    // Commands on this machine trust this very certificate, whatever its names.
    let client = Client::builder(&first.url).trust(first.trust()).build().unwrap();
    client.health().await.unwrap();

    write(folder.path(), &authority.sign(&["localhost", "127.0.0.1"]));
    let changed = async {
        loop {
            let now = Discovery::read(server.data.path()).unwrap().unwrap();
            if now.fingerprint != first.fingerprint {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let second = tokio::time::timeout(SOON, changed).await.expect("the new one is taken");
    let client =
        |found: &Discovery| Client::builder(&found.url).trust(found.trust()).build().unwrap();
    client(&second).health().await.unwrap();
    assert!(client(&first).health().await.is_err());
    server.http = http(&trust);
    assert_eq!(server.get("/health").await.status(), StatusCode::OK);
}
