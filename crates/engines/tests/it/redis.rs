//! Redis: starts, is killed, comes back empty, pauses, leaves nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use godel_engines::{Engine, Redis};

use crate::{engines, runs, wait_until};

fn ask(redis: &Redis, command: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", redis.port()))?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut answer = [0; 512];
    let length = stream.read(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..length]).trim_end().to_owned())
}

#[test]
fn it_answers_and_comes_back_empty_after_a_kill() {
    let Some(binaries) = engines(Engine::Redis) else {
        return;
    };
    let mut redis = Redis::start(&binaries).unwrap();
    assert_eq!(redis.url(), format!("redis://127.0.0.1:{}", redis.port()));
    assert_eq!(ask(&redis, "PING").unwrap(), "+PONG");
    assert_eq!(ask(&redis, "SET fact 1").unwrap(), "+OK");
    redis.kill().unwrap();
    assert!(ask(&redis, "PING").is_err());
    redis.restart().unwrap();
    assert_eq!(ask(&redis, "GET fact").unwrap(), "$-1", "nothing is kept on disk");
}

#[test]
fn a_paused_server_answers_nothing_until_it_goes_on() {
    let Some(binaries) = engines(Engine::Redis) else {
        return;
    };
    let mut redis = Redis::start(&binaries).unwrap();
    redis.pause().unwrap();
    assert!(ask(&redis, "PING").is_err());
    redis.resume().unwrap();
    assert_eq!(ask(&redis, "PING").unwrap(), "+PONG");
}

#[test]
fn dropping_stops_it() {
    let Some(binaries) = engines(Engine::Redis) else {
        return;
    };
    let redis = Redis::start(&binaries).unwrap();
    let (pid, log) = (redis.pid().unwrap(), redis.log_path());
    drop(redis);
    wait_until("the server is gone", || !runs(pid));
    assert!(!log.exists());
}
