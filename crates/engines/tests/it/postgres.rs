//! PostgreSQL: starts, survives a kill, pauses, leaves nothing.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use godel_engines::{Engine, Postgres};

use crate::{engines, runs, wait_until};

fn psql(postgres: &Postgres, sql: &str) -> Command {
    let mut command = postgres.installed().command("psql");
    command
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d"])
        .arg(postgres.url("postgres"))
        .args(["-c", sql]);
    command
}

fn ask(postgres: &Postgres, sql: &str) -> String {
    let output = psql(postgres, sql).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_was_answered_is_there_after_the_postmaster_is_killed() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    let mut postgres = Postgres::start(&binaries).unwrap();
    ask(&postgres, "create table facts (n int)");
    ask(&postgres, "insert into facts select generate_series(1, 1000)");
    let (before, url) = (postgres.pid().unwrap(), postgres.url("postgres"));

    postgres.kill_postmaster().unwrap();
    assert!(!runs(before));
    assert!(!psql(&postgres, "select 1").stderr(Stdio::null()).status().unwrap().success());
    assert!(postgres.kill_postmaster().is_err(), "it is not running any more");

    postgres.restart().unwrap();
    assert_eq!(postgres.url("postgres"), url);
    assert_eq!(ask(&postgres, "select count(*), sum(n) from facts"), "1000|500500");
    let log = std::fs::read_to_string(postgres.log_path()).unwrap();
    assert!(log.contains("was not properly shut down"), "{log}");
}

#[test]
fn a_kill_under_writes_loses_nothing_that_was_answered() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    let mut postgres = Postgres::start(&binaries).unwrap();
    ask(&postgres, "create table facts (n serial)");
    for round in 1..=3 {
        // One connection that commits row by row and says the number of each after its commit.
        let inserts = "insert into facts default values returning n;\n".repeat(20_000);
        let script = std::env::temp_dir().join(format!("godel-inserts-{}", std::process::id()));
        std::fs::write(&script, inserts).unwrap();
        let writer = postgres
            .installed()
            .command("psql")
            .args(["-X", "-q", "-A", "-t", "-d"])
            .arg(postgres.url("postgres"))
            .arg("-f")
            .arg(&script)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(300));
        postgres.kill_postmaster().unwrap();
        let answered = writer.wait_with_output().unwrap().stdout;
        std::fs::remove_file(&script).unwrap();
        let answered: Vec<i64> =
            String::from_utf8(answered).unwrap().lines().filter_map(|n| n.parse().ok()).collect();
        let last = *answered.last().expect("something was written before the kill");
        postgres.restart().unwrap();
        let kept = ask(
            &postgres,
            &format!("select count(*) from facts where n <= {last} and n >= {}", answered[0]),
        );
        assert_eq!(kept, answered.len().to_string(), "round {round}");
    }
}

#[test]
fn a_clean_restart_keeps_port_and_data() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    let mut postgres = Postgres::start(&binaries).unwrap();
    ask(&postgres, "create table kept (n int)");
    let port = postgres.port();
    postgres.restart().unwrap();
    assert_eq!(
        (postgres.port(), ask(&postgres, "select count(*) from kept").as_str()),
        (port, "0")
    );
}

#[test]
fn a_paused_cluster_answers_nothing_until_it_goes_on() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    let mut postgres = Postgres::start(&binaries).unwrap();
    let mut slow = psql(&postgres, "select pg_sleep(0.3)").stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(100));
    postgres.pause().unwrap();
    let mut fresh = psql(&postgres, "select 1").stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    assert!(slow.try_wait().unwrap().is_none(), "an open connection hangs");
    assert!(fresh.try_wait().unwrap().is_none(), "a new connection hangs");
    postgres.resume().unwrap();
    assert!(slow.wait().unwrap().success());
    assert!(fresh.wait().unwrap().success());
}

#[test]
fn it_is_durable_private_and_roomy() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    let postgres = Postgres::start(&binaries).unwrap();
    let shows = |name: &str| ask(&postgres, &format!("show {name}"));
    assert_eq!(shows("fsync"), "on");
    assert_eq!(shows("full_page_writes"), "on");
    assert_eq!(shows("synchronous_commit"), "on");
    assert_eq!(shows("listen_addresses"), "127.0.0.1");
    assert_eq!(shows("max_connections"), "200");
    assert_eq!(shows("server_encoding"), "UTF8");
    assert_eq!(ask(&postgres, "select rolsuper from pg_roles where rolname = current_user"), "t");
}

#[test]
fn dropping_stops_it_and_removes_its_data_even_while_paused() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    for paused in [false, true] {
        let mut postgres = Postgres::start(&binaries).unwrap();
        let (pid, data) = (postgres.pid().unwrap(), postgres.data_dir().to_owned());
        if paused {
            postgres.pause().unwrap();
        }
        drop(postgres);
        wait_until("the postmaster is gone", || !runs(pid));
        assert!(!data.exists() && !data.parent().unwrap().exists());
    }
}
