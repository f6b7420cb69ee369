//! `sockets`: what 10,000 idle WebSocket clients cost, and that all of them hear of an event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Bench, allow_files};
use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http};
use crate::server::Server;
use crate::socket::Socket;
use crate::table::{Bar, Row};

const CLIENTS: usize = 10_000;
/// How many clients connect at the same time.
const CONNECTING: usize = 64;
const IDLE: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(20);
/// More than one for each client: the database, the program, what tests and shells hold open.
const FILES: u64 = CLIENTS as u64 + 500;
const MEMORY_MAX_MB: f64 = 120.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    allow_files(FILES)?;
    let server = bench.fresh("sockets").await?;
    // One that comes and goes, so that what the first one costs is not counted for each.
    drop(Socket::open(server.address, &server.key, "agent:*").await?);
    let empty = server.process.resident_bytes()?;
    let start = Instant::now();
    let sockets = connect(&server).await?;
    let connected = start.elapsed();
    let heard = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for mut socket in sockets {
        let heard = Arc::clone(&heard);
        clients.spawn(async move {
            let frame = socket.next().await?;
            if frame.contains(r#""type":"event""#) && frame.contains("agent:start") {
                heard.fetch_add(1, Ordering::Relaxed);
            }
            // Open until the end, so that all are there at the same time.
            Ok::<_, Error>(socket)
        });
    }
    tokio::time::sleep(IDLE).await;
    let full = server.process.resident_bytes()?;
    let first = Instant::now();
    let mut http = Http::connect(server.address).await?;
    let event = r#"{"type":"agent:start","payload":{"agent":"builder-7"}}"#;
    http.expect(&http::post("/api/v1/events", &server.key, event), 201).await?;
    while heard.load(Ordering::Relaxed) < CLIENTS && first.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let last = first.elapsed();
    let after = server.process.resident_bytes()?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let each = full.saturating_sub(empty) as f64 / 1_024.0 / CLIENTS as f64;
    let told = heard.load(Ordering::Relaxed) as f64;
    let what = "server memory, 10,000 idle clients";
    Ok(vec![
        Row::told("server memory, no client", megabytes(empty), "MB"),
        Row::told(what, megabytes(full), "MB").bar(Bar::Below(MEMORY_MAX_MB)),
        Row::told("server memory per client", each, "KiB"),
        Row::told("time to connect all", connected.as_secs_f64(), "s"),
        Row::told("clients that got the event", told, "clients").bar(Bar::AtLeast(CLIENTS as f64)),
        Row::told("one event to all clients", last.as_secs_f64() * 1_000.0, "ms"),
        Row::told("server memory after the event", megabytes(after), "MB"),
    ])
}

/// Connects all clients, some at a time.
async fn connect(server: &Server) -> Result<Vec<Socket>> {
    let mut tasks = JoinSet::new();
    for first in 0..CONNECTING {
        let (address, key) = (server.address, server.key.clone());
        tasks.spawn(async move {
            let mut sockets = Vec::new();
            for _ in (first..CLIENTS).step_by(CONNECTING) {
                sockets.push(Socket::open(address, &key, "agent:*").await?);
            }
            Ok::<_, Error>(sockets)
        });
    }
    let mut sockets = Vec::with_capacity(CLIENTS);
    while let Some(done) = tasks.join_next().await {
        sockets.extend(done.told("finish connecting")??);
    }
    Ok(sockets)
}
