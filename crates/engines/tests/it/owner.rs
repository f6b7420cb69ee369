//! An owner that is killed leaves neither servers nor folders behind.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use godel_engines::{Engine, Postgres};

use crate::{engines, runs, wait_until};

/// Tells the second copy of this test program that it is the owner to be killed.
const PLAYS_OWNER: &str = "GODEL_ENGINES_TEST_PLAYS_OWNER";

#[test]
fn an_owner_that_is_killed_leaves_nothing_behind() {
    let Some(binaries) = engines(Engine::Postgres) else {
        return;
    };
    if let Some(paused) = std::env::var_os(PLAYS_OWNER) {
        let mut postgres = Postgres::start(&binaries).unwrap();
        if paused == "paused" {
            postgres.pause().unwrap();
        }
        println!("owns {} {}", postgres.pid().unwrap(), postgres.data_dir().display());
        thread::sleep(Duration::from_secs(600));
        return;
    }
    for state in ["running", "paused"] {
        let mut owner = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "owner::an_owner_that_is_killed_leaves_nothing_behind",
                "--nocapture",
            ])
            .env(PLAYS_OWNER, state)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(owner.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("owns ")?.1.to_owned()))
            .expect("the owner says what it owns");
        let (pid, data) = said.split_once(' ').unwrap();
        let (pid, data) = (pid.parse().unwrap(), PathBuf::from(data));
        assert!(runs(pid) && data.exists());
        owner.kill().unwrap();
        owner.wait().unwrap();
        wait_until("the postmaster is gone", || !runs(pid));
        wait_until("the folder is gone", || !data.parent().unwrap().exists());
    }
}
