//! The end comes in time, whatever else hangs.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use godel_engines::{Binaries, Places, Postgres};
use serde_json::Value;

use crate::home::{Home, Server, lasting_address};
use crate::worker::Working;

#[test]
fn a_server_ends_in_time_while_its_database_hangs() {
    if godel_testkit::postgres_url().is_none() {
        return;
    }
    let mut postgres = Postgres::start(&Binaries::find(&Places::from_env())).unwrap();
    let home = Home::new().with("GODEL_SERVER_DRAIN_SECS", "1");
    let database = postgres.url("postgres");
    let server = home.up_with(&["--listen", "127.0.0.1:0", "--database", &database]);
    home.run(&["events", "publish", "test:before"]).expect(0);
    // It holds its connections and answers nothing, as a disk that hangs makes it do.
    postgres.pause().unwrap();
    let mut under_way = home
        .command(&["events", "publish", "test:hanging"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let started = Instant::now();
    server.stop();
    let took = started.elapsed();
    postgres.resume().unwrap();
    under_way.kill().ok();
    under_way.wait().unwrap();
    // A second for requests, five for the last words to the database, and some to spare.
    assert!(took < Duration::from_secs(10), "it took {took:?}: {}", home.log());
    assert!(!home.data().join("server.json").exists(), "{}", home.log());
}

/// Real workers are in the middle of it each time that the server is asked to end.
#[test]
fn a_server_that_is_asked_to_end_under_load_ends_in_time_and_costs_no_attempt() {
    const TASKS: usize = 60;
    /// How long a server lets requests end.
    const DRAIN: Duration = Duration::from_secs(10);
    let (home, address) = (Home::new(), lasting_address());
    let up = || home.up_with(&["--listen", &address]);
    let mut server = up();
    let line = |number| format!("{{\"title\": \"task {number}\"}}\n");
    std::fs::write(home.path().join("tasks"), (0..TASKS).map(line).collect::<String>()).unwrap();
    home.run(&["task", "batch", "tasks"]).expect(0);
    let work = |_| Working::start(&home, &["--jobs", "2"], "sleep 0.3");
    let workers: Vec<Working> = (0..3).map(work).collect();
    for _ in 0..3 {
        workers[0].expect("ended");
        let started = Instant::now();
        assert!(server.stop().success(), "{}", home.log());
        // Workers that wait for a task are sent home; patience does not run out.
        assert!(started.elapsed() < DRAIN / 2, "it took {:?}: {}", started.elapsed(), home.log());
        server = up();
    }
    let started = Instant::now();
    let tasks = loop {
        let list = home.run(&["task", "list", "--limit", "100", "--json"]).expect(0).json();
        let tasks = list["items"].as_array().unwrap().clone();
        if tasks.iter().all(|task| task["state"] == "succeeded") {
            break tasks;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{tasks:?}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(tasks.len(), TASKS);
    let again: Vec<_> = tasks.iter().filter(|task| task["attempt"] != 1).collect();
    assert!(again.is_empty(), "{again:?}");
    drop(workers);
    server.stop();
}

/// Asks without a key and without a trace, and returns the trace id and request id of the answer.
fn ask(server: &Server) -> (String, String) {
    let address = server.url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let request =
        format!("GET /api/v1/events HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let header = |name: &str| {
        let line = answer.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned()
    };
    let trace = header("traceparent: ").split('-').nth(1).unwrap().to_owned();
    (trace, header("x-request-id: "))
}

#[test]
fn a_log_line_has_the_trace_id_that_the_caller_was_told() {
    let home = Home::new();
    let server = home.up_with(&["--listen", "127.0.0.1:0", "--log-level", "debug"]);
    let asked: Vec<_> = (0..3).map(|_| ask(&server)).collect();
    server.stop();
    let lines: Vec<Value> =
        home.log().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (trace, request) in asked {
        assert_eq!(trace.len(), 32);
        let of_request: Vec<_> =
            lines.iter().filter(|line| line["request_id"] == request.as_str()).collect();
        assert!(of_request.iter().any(|line| line["message"] == "answered"), "{}", home.log());
        assert!(of_request.iter().all(|line| line["trace_id"] == trace.as_str()), "{of_request:?}");
    }
}
