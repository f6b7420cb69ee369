//! A server from its first start to its end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home::{Home, answer, lasting_address};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_server_starts_serves_and_stops() {
    let home = Home::new();
    let server = home.up();
    assert_eq!(server.said["dataDir"], json!(home.data()));
    let link = server.said["loginLink"].as_str().unwrap();
    assert!(link.starts_with(&format!("{}/dashboard/#token=", server.url())), "{link}");
    let status = home.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["pid"], server.said["pid"]);
    assert_eq!((&status["url"], &status["status"]), (&server.said["url"], &json!("healthy")));
    for part in ["database", "disk"] {
        assert!(status["checks"][part]["latencyMs"].is_number(), "{status}");
    }
    let text = home.run(&["status"]).expect(0).stdout;
    for part in [" is healthy", "uptime", "database", server.url(), "CHECK", "schema"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert_eq!(home.run(&["--json"]).expect(0).json()["state"], "running");
    home.run(&["doctor"]).expect(0);
    assert!(home.data().join("server.json").exists());
    assert_eq!(server.stop().code(), Some(0));
    assert!(!home.data().join("server.json").exists(), "the discovery file stays behind");
    home.run(&["status"]).expect(6);
    assert_eq!(home.run(&["--json"]).expect(0).json()["state"], "stopped");
    home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(0);
}

#[test]
fn events_are_published_listed_and_followed() {
    let home = Home::new();
    let _server = home.up();
    let publish = ["events", "publish", "deploy:finished", "--json", "--payload", r#"{"n":1}"#];
    let first =
        home.run(&[&publish[..], &["--idempotency-key", "k", "--correlation", "c"]].concat());
    let first = first.expect(0).json();
    assert_eq!(
        (&first["type"], &first["payload"]),
        (&json!("deploy:finished"), &json!({ "n": 1 }))
    );
    assert_eq!(first["metadata"]["correlationId"], "c");
    let again =
        home.run(&[&publish[..], &["--idempotency-key", "k", "--correlation", "c"]].concat());
    assert_eq!(again.expect(0).json(), first, "a repeated key records nothing new");
    home.run(&[&publish[..5], &[r#"{"n":2}"#, "--idempotency-key", "k"]].concat()).expect(4);
    let mut piped = home.command(&["events", "publish", "build:done", "--payload", "-", "--json"]);
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"from\":\"stdin\"}").unwrap();
    let second: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(second["payload"], json!({ "from": "stdin" }));
    assert_eq!(second["sequence"].as_i64(), first["sequence"].as_i64().map(|n| n + 1));
    let page = home.run(&["events", "list", "--json", "--limit", "1"]).expect(0).json();
    assert_eq!(page["items"], json!([second]));
    assert_eq!(page["pagination"]["hasMore"], true);
    let cursor = page["pagination"]["cursor"].as_str().unwrap();
    let next = home.run(&["events", "list", "--json", "--limit", "1", "--cursor", cursor]);
    assert_eq!(next.expect(0).json()["items"], json!([first]));
    let by_type = home.run(&["events", "list", "--type", "deploy:*", "--json"]).expect(0).json();
    assert_eq!(by_type["items"], json!([first]));
    let table = home.run(&["events", "list"]).expect(0).stdout;
    assert!(table.starts_with("SEQ ") && table.contains("server:start"), "{table}");
    let head = second["sequence"].to_string();
    let tail = home.run(&["events", "tail", "--after", "0", "--limit", &head, "--json"]).expect(0);
    let all = lines(&tail.stdout);
    let sequences: Vec<i64> = all.iter().map(|event| event["sequence"].as_i64().unwrap()).collect();
    assert_eq!(sequences, (1..=head.parse().unwrap()).collect::<Vec<i64>>());
    let some = home.run(&["events", "tail", "build:*", "--after", "0", "--limit", "1"]).expect(0);
    assert!(some.stdout.contains("build:done") && some.stdout.lines().count() == 1, "{some:?}");
}

#[test]
fn a_tail_behind_the_end_of_the_log_says_that_it_may_be_another_log() {
    let home = Home::new();
    let _server = home.up();
    let refused = home.run(&["events", "tail", "--after", "9999"]);
    refused.refused(2, &["the log ends at", "this may be another log", "begin again at 0"]);
}

#[test]
fn more_events_than_a_page_are_listed() {
    let home = Home::new();
    let _server = home.up();
    let mut head = 0;
    for n in 0..120 {
        let payload = format!("{{\"n\":{n}}}");
        let event = home.run(&["events", "publish", "count:up", "--payload", &payload, "--json"]);
        head = event.expect(0).json()["sequence"].as_i64().unwrap();
    }
    let page = home.run(&["events", "list", "--limit", "110", "--json"]).expect(0).json();
    let listed: Vec<i64> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["sequence"].as_i64().unwrap())
        .collect();
    assert_eq!(listed, (head - 109..=head).rev().collect::<Vec<_>>());
}

#[test]
fn a_tail_goes_on_when_the_server_comes_back() {
    let home = Home::new();
    let listen = lasting_address();
    let server = home.up_with(&["--listen", &listen]);
    home.run(&["events", "publish", "round:one"]).expect(0);
    let mut tail = home
        .command(&["events", "tail", "round:*", "--after", "0", "--limit", "2", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(tail.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("round:one"), "{line}");
    server.kill();
    let mut notes = BufReader::new(tail.stderr.take().unwrap());
    let mut note = String::new();
    notes.read_line(&mut note).unwrap();
    assert!(note.contains("no godel server answers"), "{note}");
    home.run(&["status"]).refused(6, &["has ended without cleaning up"]);
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(0).stdout;
    assert!(doctor.contains("warn  server"), "{doctor}");
    let _server = home.up_with(&["--listen", &listen]);
    home.run(&["events", "publish", "round:two"]).expect(0);
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("round:two"), "{line}");
    assert_eq!(tail.wait().unwrap().code(), Some(0));
    note.clear();
    notes.read_line(&mut note).unwrap();
    assert!(note.contains("connected again"), "{note}");
}

#[test]
fn the_schema_goes_forward_and_back() {
    let home = Home::new();
    assert_eq!(home.run(&["db", "status", "--json"]).expect(0).json()["found"], 0);
    home.run(&["db", "check"]).refused(2, &["there is nothing to check: empty"]);
    let known = home.run(&["db", "status", "--json"]).expect(0).json()["known"].as_i64().unwrap();
    home.run(&["db", "migrate", "--to", &known.to_string()]).expect(0);
    home.up().kill();
    let checked = home.run(&["db", "check", "--json"]).expect(0).json();
    assert_eq!(checked["tenants"][0]["name"], "default", "{checked}");
    home.run(&["db", "migrate", "--to", "1"])
        .refused(2, &["drops what version 2 (callers) brought", "--yes"]);
    let back = home.run(&["db", "migrate", "--to", "1", "--yes"]).expect(0).stdout;
    assert_eq!(back, format!("the schema went from version {known} to 1\n"));
    assert!(home.run(&["db", "status"]).expect(0).stdout.contains("is older"));
    assert_eq!(home.up().stop().code(), Some(0), "the server brings it forward again");
    assert!(home.run(&["db", "status"]).expect(0).stdout.contains("up to date"));
}

#[test]
fn on_postgres_a_running_server_keeps_the_schema_and_the_data_directory() {
    let Some(server) = postgres_url() else {
        eprintln!("skipped on PostgreSQL: no server (run `cargo xtask test`)");
        return;
    };
    let database = Database::postgres(server);
    let DatabaseUrl::Postgres(url) = database.url() else { panic!("another engine") };
    let home = Home::new().with("GODEL_DATABASE_URL", &url);
    let server = home.up();
    home.run(&["db", "migrate", "--to", "0", "--yes"]).refused(4, &["data_dir_locked"]);
    home.run(&["up", "--listen", "127.0.0.1:0"]).refused(4, &["data_dir_locked"]);
    assert_eq!(home.run(&["db", "check", "--json"]).expect(0).json()["ok"], true);
    home.run(&["doctor"]).expect(0);
    assert_eq!(server.stop().code(), Some(0));
    home.run(&["db", "migrate", "--to", "0", "--yes"]).expect(0);
    assert_eq!(home.run(&["db", "status", "--json"]).expect(0).json()["found"], 0);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let home = Home::new().with("GODEL_SERVER_DRAIN_SECS", "600");
    let server = home.up();
    let address = server.url().trim_start_matches("http://").to_owned();
    // A request that never ends: its body does not arrive.
    let key = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
    let mut open = std::net::TcpStream::connect(&address).unwrap();
    let head = format!(
        "POST /api/v1/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        key.trim()
    );
    open.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.signal(Signal::TERM);
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.signal(Signal::INT);
    assert_eq!(server.ended().code(), Some(1));
}

#[test]
fn people_see_where_it_is_and_how_to_stop_it() {
    let home = Home::new();
    let mut command = home.command(&["up", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut said = Vec::new();
    for line in stdout.lines() {
        let line = line.unwrap();
        let last = line.contains("Ctrl-C");
        said.push(line);
        if last {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.join("\n");
    for part in [
        "is up at http://127.0.0.1:",
        "/dashboard/#token=",
        "owner.key",
        "was just made",
        "Ctrl-C stops it",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

#[test]
fn the_owner_key_is_never_shown() {
    let home = Home::new();
    let server = home.up();
    let key = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
    let said = [
        server.said.to_string(),
        home.run(&["status"]).stdout,
        home.run(&["doctor", "--json"]).stdout,
        home.run(&["config", "show", "--json"]).stdout,
        home.run(&["events", "list", "--json"]).stdout,
        answer(&mut home.command(&["--json"])).stdout,
        home.log(),
    ];
    assert!(said.iter().all(|text| !text.contains(key.trim())));
}
