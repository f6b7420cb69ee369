//! `start`: how long `godel up` takes to be ready, and how large it all is.

use std::time::Duration;

use super::Bench;
use crate::error::{Result, Told as _};
use crate::server::Server;
use crate::stats::median;
use crate::table::{Bar, Row};

const EVENTS: usize = 100_000;
const STARTS: usize = 10;
const IDLE: Duration = Duration::from_secs(3);
const READY_MAX_MS: f64 = 300.0;
const MEMORY_MAX_MB: f64 = 60.0;
const PROGRAM_MAX_MB: f64 = 40.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.stocked("start", EVENTS).await?;
    let mut took = Vec::new();
    for _ in 0..STARTS {
        let server = Server::start(&bench.program, &folder).await?;
        took.push(server.took.as_secs_f64() * 1_000.0);
        server.stop().await?;
    }
    let server = Server::start(&bench.program, &folder).await?;
    tokio::time::sleep(IDLE).await;
    let memory = server.process.resident_bytes()? as f64 / 1e6;
    let size = std::fs::metadata(&bench.program).told("look at the program")?;
    let slowest = took.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        Row::told("start to ready, median of 10", median(took), "ms").bar(Bar::Below(READY_MAX_MS)),
        Row::told("start to ready, slowest of 10", slowest, "ms"),
        Row::told("idle memory", memory, "MB").bar(Bar::Below(MEMORY_MAX_MB)),
        Row::told("size of the program", size.len() as f64 / 1e6, "MB")
            .bar(Bar::Below(PROGRAM_MAX_MB)),
    ])
}
