//! The scripted LLM provider, run as a program.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Failure, Result, Told};
use crate::nursery::Process;
use crate::shop::Shop;

const START: Duration = Duration::from_secs(20);
const CALL: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

/// A running provider; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Stage {
    _process: Process,
    /// Where it is, such as `http://127.0.0.1:4000`.
    pub(crate) url: String,
    /// The only key that it accepts.
    pub(crate) key: String,
}

impl Stage {
    /// Builds the program and starts it on a free port.
    pub(crate) fn open(shop: &Shop, key: &str) -> Result<Self> {
        shop.captured("scripted-build", &mut shop.cargo(&["build", "--bin", "godel-scripted"]))?;
        let said = shop.nursery.folder("scripted")?.join("said.json");
        let output = File::create(&said).told(format!("create {}", said.display()))?;
        let mut command = Command::new(shop.target.join("debug/godel-scripted"));
        let mut process = shop.nursery.spawn(command.args(["--key", key]).stdout(output))?;
        let deadline = Instant::now() + START;
        loop {
            let text = fs::read_to_string(&said).unwrap_or_default();
            let greeting: Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(url) = greeting["url"].as_str() {
                return Ok(Self { _process: process, url: url.to_owned(), key: key.to_owned() });
            }
            if process.try_wait()?.is_some() || Instant::now() >= deadline {
                return Err(Failure::new("the scripted provider did not start").output(text));
            }
            thread::sleep(POLL);
        }
    }

    /// Asks for one of its control documents, such as `/_stats`.
    pub(crate) fn ask(&self, path: &str) -> Result<Value> {
        let address = self.url.trim_start_matches("http://");
        let asked = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(CALL))?;
            write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            Ok(text)
        };
        let text = asked().told(format!("ask the scripted provider for {path}"))?;
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).told(format!("read what {path} says"))
    }
}
