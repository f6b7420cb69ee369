//! Really starts both engines, hurts them, and looks at what is left.

#![cfg(test)]

mod owner;
mod postgres;
mod redis;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use godel_engines::{Binaries, Engine, Places};

/// The engines of this machine, or none with a line that says so; on CI they must be there.
fn engines(engine: Engine) -> Option<Binaries> {
    let found = Binaries::find(&Places::from_env());
    let there = match engine {
        Engine::Postgres => found.postgres.is_some(),
        Engine::Redis => found.redis.is_some(),
    };
    if !there {
        let on_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(!on_ci, "{engine} is not installed; on CI nothing is skipped");
        eprintln!("skipped: {engine} is not installed");
    }
    there.then_some(found)
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 30 s: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process runs; one that ended and was not waited for does not count.
fn runs(pid: u32) -> bool {
    if cfg!(target_os = "linux") {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
        return stat.is_ok_and(|text| !text.contains(") Z "));
    }
    godel_engines::signal_process(pid, godel_engines::Signal::CONT)
}
