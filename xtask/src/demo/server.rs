//! Act: a server starts, tells how to log in, and says how it is.

use std::thread;
use std::time::{Duration, Instant};

use super::Stage;
use crate::failure::{Failure, Result};
use crate::godel::Server;

/// How long the greeting may take after the server is ready.
const GREETING: Duration = Duration::from_secs(5);

/// Starts the server that the later acts use.
pub(super) fn play(stage: &mut Stage) -> Result<()> {
    println!("  $ godel up");
    let server = stage.raise()?;
    for line in greeting(server)?.lines() {
        println!("    {line}");
    }
    println!("  What it says of itself:");
    stage.show(&["status"])
}

/// What the server prints for its owner; it must say where it is.
fn greeting(server: &Server) -> Result<String> {
    let deadline = Instant::now() + GREETING;
    loop {
        let said = server.said();
        if said.contains(server.url()) && said.ends_with('\n') {
            return Ok(said);
        }
        if Instant::now() >= deadline {
            return Err(Failure::new("godel up does not say where it listens").output(said));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// What to try after the demo.
pub(super) fn next_steps() -> &'static str {
    "That was all, and everything is cleaned up. To go on by yourself:
  cargo run --bin godel -- up           a server on http://127.0.0.1:7373 that stays
  cargo run --bin godel -- doctor       what it needs and what it found
  cargo run --bin godel -- events tail  watch what happens
  cargo xtask test                      check everything
  cargo xtask torture                   the crash of act 8, hundreds of times"
}
