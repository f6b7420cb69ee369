//! TLS with the real program: what a person types, sees and may rely on.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use godel_testkit::Authority;
use godel_tls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustix::process::Signal;
use serde_json::json;

use crate::home::Home;

#[test]
fn commands_on_the_same_machine_just_work_with_tls() {
    let home = Home::new();
    let listen = ["--listen", "0.0.0.0:0", "--tls", "auto", "--tls-name", "godel.example"];
    let server = home.up_with(&listen);
    assert!(server.url().starts_with("https://127.0.0.1:"), "{}", server.url());
    assert!(server.said["loginLink"].as_str().unwrap().starts_with("https://"));
    assert_eq!(server.said["insecure"], false);
    let status = home.run(&["status", "--json"]).expect(0).json();
    let protection = &status["protection"];
    assert_eq!((&protection["tls"], &protection["insecure"]), (&json!(true), &json!(false)));
    assert_eq!(protection["fingerprint"], server.said["fingerprint"]);
    let fingerprint = server.said["fingerprint"].as_str().unwrap().to_owned();
    let text = home.run(&["status"]).expect(0).stdout;
    assert!(text.contains(&fingerprint) && text.contains("TLS, certificate until"), "{text}");
    home.run(&["events", "publish", "test:tls"]).expect(0);
    let tail = home.run(&["events", "tail", "test:*", "--after", "0", "--limit", "1", "--json"]);
    assert_eq!(tail.expect(0).json()["type"], "test:tls");
    assert!(home.run(&["doctor"]).expect(0).stdout.contains(&fingerprint));
    for (file, mode) in [("tls/ca-key.pem", 0o600), ("tls", 0o700)] {
        let found = std::fs::metadata(home.data().join(file)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{file}");
    }

    // From another machine: nothing is known but what was given.
    let other = Home::new();
    let (url, ca) = (server.url(), home.data().join("tls/ca.pem"));
    other.run(&["status", "--server", url]).refused(
        5,
        &["nobody who is trusted has signed its certificate", "--ca", "certificate_untrusted"],
    );
    for given in [fingerprint.as_str(), &fingerprint.replace(':', ""), ca.to_str().unwrap()] {
        let found = other.run(&["status", "--server", url, "--ca", given, "--json"]).expect(0);
        assert_eq!(found.json()["status"], "healthy");
    }
    let wrong = "00".repeat(32);
    other
        .run(&["status", "--server", url, "--ca", &wrong])
        .refused(5, &["do not have the fingerprint that was given"]);
    other
        .run(&["status", "--server", url, "--ca", "/nowhere/ca.pem"])
        .refused(2, &["/nowhere/ca.pem cannot be read", "certificate_invalid"]);
    other
        .run(&["status", "--server", &url.replace("https", "http")])
        .refused(2, &["this server speaks https, not http", "use https://"]);

    // A login keeps whom it trusts.
    let key = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
    let login = |more: &[&str]| {
        let arguments = [&["login", url, "--key-stdin"][..], more].concat();
        let mut command = other.command(&arguments);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        // It may refuse before it has read the key.
        child.stdin.take().unwrap().write_all(key.as_bytes()).ok();
        child.wait_with_output().unwrap()
    };
    assert_eq!(login(&[]).status.code(), Some(5), "an unknown authority");
    assert!(login(&["--ca", &fingerprint]).status.success());
    let me = other.run(&["whoami", "--json"]).expect(0).json();
    assert_eq!((&me["user"], &me["server"]), (&json!("owner"), &json!(url)));
    other.run(&["logout"]).expect(0);

    // The authority stays, whatever the names are.
    assert_eq!(server.stop().code(), Some(0));
    let again = home.up_with(&["--listen", "127.0.0.1:0", "--tls", "auto"]);
    assert_eq!(again.said["fingerprint"].as_str(), Some(fingerprint.as_str()));
    assert!(!home.log().contains("PRIVATE KEY"));
}

#[test]
fn serving_other_machines_without_tls_must_be_asked_for_and_is_shown() {
    let home = Home::new();
    home.run(&["up", "--listen", "0.0.0.0:0"]).refused(2, &["without TLS", "--insecure"]);
    let server = home.up_with(&["--listen", "0.0.0.0:0", "--insecure"]);
    assert_eq!(
        (&server.said["insecure"], &server.said["fingerprint"]),
        (&json!(true), &json!(null))
    );
    let status = home.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["protection"], json!({ "tls": false, "insecure": true }));
    let text = home.run(&["status"]).expect(0).stdout;
    assert!(text.contains("none, and other machines can reach it (--insecure)"), "{text}");
    let doctor = home.run(&["doctor"]).expect(0).stdout;
    assert!(doctor.contains("other machines can reach the server without TLS"), "{doctor}");
    assert!(home.log().contains("other machines can reach this server without TLS"));
    assert_eq!(server.stop().code(), Some(0));
    let home = home.with("GODEL_INSECURE", "true").with("GODEL_LISTEN", "[::]:0");
    let server = home.up_with(&[]);
    assert!(server.url().starts_with("http://[::1]:"), "{}", server.url());
    home.run(&["status"]).expect(0);
}

#[test]
fn a_certificate_of_ones_own_is_used_from_its_files() {
    let (home, authority) = (Home::new(), Authority::new("company"));
    let made = authority.sign(&["godel.example"]);
    let (cert, key) = (home.path().join("cert.pem"), home.path().join("key.pem"));
    std::fs::write(&cert, &made.certificate).unwrap();
    let flags = ["--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let up = [&["up"][..], &flags].concat();
    home.run(&up).refused(2, &["key.pem cannot be read", "certificate_invalid"]);
    std::fs::write(&key, authority.sign(&["godel.example"]).key).unwrap();
    home.run(&up).refused(2, &["key.pem is not a key that fits the certificate cert.pem"]);
    std::fs::write(&key, &made.key).unwrap();
    let server = home.up_with(&flags);
    // Its name is none of this machine, and yet commands here know it.
    assert_eq!(home.run(&["status", "--json"]).expect(0).json()["protection"]["tls"], true);
    let doctor = [&["doctor"][..], &flags].concat();
    let open = home.run(&doctor).expect(1).stdout;
    assert!(open.contains("all users may read the private key key.pem"), "{open}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    home.run(&doctor).expect(0);
    server.signal(Signal::TERM);
    assert_eq!(server.ended().code(), Some(0));
    home.run(&["up", "--tls-cert", "cert.pem"]).refused(2, &["`tls.key` is not", "--tls-cert"]);
    home.run(&["up", "--tls", "auto", "--tls-cert", "c", "--tls-key", "k"])
        .refused(2, &["`tls.mode` and `tls.cert` are both set"]);
}

/// Takes one export over TLS and returns its first line.
fn collect(listener: &TcpListener, config: &Arc<ServerConfig>) -> String {
    let (stream, _) = listener.accept().unwrap();
    let connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains("resourceSpans") {
        let mut chunk = [0; 8_192];
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "the export ends early: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&chunk[..read]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
    stream.flush().unwrap();
    String::from_utf8_lossy(&bytes).lines().next().unwrap().to_owned()
}

#[test]
fn traces_go_to_a_collector_by_tls() {
    let authority = Authority::new("collector");
    let made = authority.sign(&["127.0.0.1"]);
    let home = Home::new();
    let roots = home.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let file = Path::new("collector.pem");
    let config = ServerConfig::builder_with_provider(godel_tls::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            godel_tls::certificates(file, made.certificate.as_bytes()).unwrap(),
            godel_tls::private_key(file, made.key.as_bytes()).unwrap(),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("https://{}", listener.local_addr().unwrap());
    // The system's authorities, as the system lets one choose them.
    let home = home
        .with("GODEL_OTLP_ENDPOINT", &endpoint)
        .with("SSL_CERT_FILE", roots.to_str().unwrap())
        .with("SSL_CERT_DIR", "/nowhere");
    let collector = std::thread::spawn(move || collect(&listener, &Arc::new(config)));
    let server = home.up();
    home.run(&["status"]).expect(0);
    assert_eq!(server.stop().code(), Some(0));
    assert!(collector.join().unwrap().starts_with("POST /v1/traces HTTP/1.1"));
}
