//! Failures end with the right code, a hint, and nothing on stdout.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::home::Home;

#[test]
fn wrong_usage_is_2() {
    let home = Home::new();
    home.run(&["frobnicate"]).refused(2, &["error:", "frobnicate"]);
    home.run(&["status", "--frob"]).refused(2, &["error:", "--frob"]);
    home.run(&["events", "publish"]).refused(2, &["TYPE"]);
    home.run(&["events", "list", "--limit", "0"]).refused(2, &["--limit"]);
    home.run(&["events", "publish", "nonsense"]).refused(2, &["hint:", "invalid_event_type"]);
    home.run(&["events", "publish", "a:b", "--payload", "{"]).refused(2, &["invalid_json"]);
    home.run(&["events", "tail", "a b"]).refused(2, &["hint:", "invalid_pattern"]);
    home.run(&["events", "tail", "--after=-1"]).refused(2, &["hint:"]);
    home.run(&["status", "--server", "nonsense"]).refused(2, &["http://127.0.0.1:7373"]);
    home.run(&["db", "migrate", "--to", "99"]).refused(2, &["no schema version 99"]);
}

#[test]
fn a_wrong_setting_is_2_and_names_its_origin() {
    let home = Home::new();
    home.run(&["up", "--listen", "0.0.0.0:7373"]).refused(
        2,
        &[
            "other machines could reach 0.0.0.0:7373 without TLS",
            "flag --listen",
            "--tls auto",
            "godel explain tls_required",
        ],
    );
    home.run(&["up", "--log-level", "=x"]).refused(2, &["log level", "hint:"]);
    home.run(&["up", "--log-format", "xml"]).refused(2, &["use one of: auto, text, json"]);
    home.run(&["up", "--database", "mysql://x"]).refused(2, &["hint: use sqlite://"]);
    home.run(&["up", "--config", "none.toml"]).refused(1, &["none.toml could not be read"]);
    let home = home.with("GODEL_RATE_BURST", "0");
    home.run(&["config", "show"]).refused(2, &["GODEL_RATE_BURST", "at least 1"]);
    assert!(!home.data().exists(), "a refused start leaves nothing behind");
}

#[test]
fn an_unknown_code_is_3_with_the_nearest() {
    let home = Home::new();
    home.run(&["explain", "data_dir_lock"])
        .refused(3, &["did you mean `godel explain data_dir_locked`?"]);
    home.run(&["explain", "zzz"]).refused(3, &["`godel explain` lists all codes"]);
}

#[test]
fn no_server_is_6() {
    let home = Home::new();
    for command in
        [&["status"][..], &["events", "list"], &["events", "tail"], &["events", "publish", "a:b"]]
    {
        home.run(command)
            .refused(6, &["no godel server runs on", "`godel up`", "server_unreachable"]);
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    home.run(&["status", "--server", &url])
        .refused(6, &["no godel server answers", "Connection refused"]);
    home.run(&["up", "--database", &format!("postgres://x@{free}/x"), "--listen", "127.0.0.1:0"])
        .refused(6, &["the database cannot be reached", "godel explain database_unavailable"]);
}

/// Answers every connection as no Godel does.
fn stranger() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").unwrap();
        }
    });
    format!("http://{address}")
}

#[test]
fn a_discovery_file_is_believed_only_if_its_server_answers() {
    let home = Home::new();
    std::fs::create_dir_all(home.data()).unwrap();
    let file = home.data().join("server.json");
    let write = |url: &str, pid: u32| {
        let text = format!(
            r#"{{"url":"{url}","pid":{pid},"version":"0.1.0","startedAt":"2026-01-01T00:00:00Z"}}"#
        );
        std::fs::write(&file, text).unwrap();
    };
    let own = std::process::id();
    write(&stranger(), own);
    home.run(&["status"]).refused(6, &["has ended without cleaning up"]);
    let lock = std::fs::File::create(home.data().join("server.lock")).unwrap();
    lock.lock().unwrap();
    write("http://127.0.0.1:1", own);
    home.run(&["status"]).refused(6, &["nothing answers at http://127.0.0.1:1", "`godel up`"]);
    write(&stranger(), own);
    home.run(&["status"]).refused(6, &["another program answers at http://127.0.0.1:"]);
    write("http://127.0.0.1:1", i32::MAX as u32);
    home.run(&["status"]).refused(6, &["has ended without cleaning up"]);
    drop(lock);
    std::fs::write(&file, "{").unwrap();
    home.run(&["status"]).refused(6, &["server.json is damaged"]);
    assert!(home.run(&[]).expect(0).stdout.contains("godel up"));
    assert_eq!(home.up().stop().code(), Some(0), "a new server cleans up");
    assert!(!file.exists());
}

#[test]
fn too_many_requests_are_6() {
    let home = Home::new().with("GODEL_RATE_BURST", "2").with("GODEL_RATE_PER_MINUTE", "1");
    let _server = home.up();
    home.run(&["status"]).expect(0);
    home.run(&["events", "list"]).refused(6, &["its limit of 1 a minute", "rate_limited"]);
    let status = home.run(&["status", "--json"]).expect(0);
    assert!(status.stderr.contains("details are missing"), "{status:?}");
    assert_eq!(status.json()["status"], "healthy");
}

#[test]
fn an_address_in_use_is_4() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    home.run(&["up", "--listen", &address])
        .refused(4, &["another program listens on", "--listen", "address_in_use"]);
}

#[test]
fn a_locked_data_directory_is_4() {
    let home = Home::new();
    let server = home.up();
    let holder = format!("pid {}", server.said["pid"]);
    home.run(&["up", "--listen", "127.0.0.1:0"]).refused(
        4,
        &[
            "is in use by another godel",
            &holder,
            "--data",
            "Godel is up already, at http://127.0.0.1:",
        ],
    );
    home.run(&["db", "check"]).refused(4, &["data_dir_locked"]);
    home.run(&["db", "migrate", "--to", "0", "--yes"]).refused(4, &["data_dir_locked"]);
}

#[test]
fn a_key_that_is_not_known_is_5() {
    let home = Home::new();
    let server = home.up();
    let strange = home.data().join("../other");
    let strange = strange.to_str().unwrap();
    home.run(&["events", "list", "--data", strange, "--server", server.url()])
        .refused(5, &["the caller is not known", "GODEL_KEY"]);
    let home = home.with("GODEL_KEY", "nonsense");
    home.run(&["events", "list"]).refused(5, &["GODEL_KEY is not a Godel API key"]);
}

#[test]
fn with_json_a_failure_is_json_on_stderr() {
    let home = Home::new();
    for (arguments, exit, code) in [
        (&["status", "--json"][..], 6, "server_unreachable"),
        (&["--json", "explain", "zzz"], 3, "code_not_found"),
        (&["frobnicate", "--json"], 2, "invalid_request"),
        (&["up", "--listen", "x", "--json"], 2, "invalid_config"),
    ] {
        let answer = home.run(arguments).expect(exit);
        assert_eq!(answer.stdout, "", "{answer:?}");
        let body: serde_json::Value = serde_json::from_str(&answer.stderr).unwrap();
        assert_eq!(body["success"], false);
        assert_eq!(body["error"]["code"], code);
        assert!(
            body["error"]["message"].is_string() && body["error"]["hint"].is_string(),
            "{body}"
        );
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let home = Home::new();
    let mut child = home
        .command(&["explain"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
