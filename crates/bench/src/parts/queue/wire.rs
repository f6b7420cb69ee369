//! How many tasks go through the HTTP API: single enqueues, claims of one, completions.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Deserialize;
use tokio::task::JoinSet;

use super::Bench;
use super::flow::{CALLERS, TASKS};
use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http};
use crate::server::Server;
use crate::stats::median;
use crate::table::{Bar, Row};

const WORKERS: usize = 64;
const ROUNDS: usize = 5;
const RATE_MIN: f64 = 5_000.0;

#[derive(Deserialize)]
struct Success<T> {
    data: T,
}

#[derive(Deserialize)]
struct Made {
    id: String,
}

#[derive(Deserialize)]
struct Given {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    id: String,
    attempt: u32,
}

/// Where the server is, and who asks.
struct Door {
    address: SocketAddr,
    key: String,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let server = bench.fresh("queue-http").await?;
    let door = Arc::new(Door { address: server.address, key: server.key.clone() });
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(Worker::register(&door).await?);
    }
    let mut rounds = Vec::new();
    for number in 0..=ROUNDS {
        let round = round(&door, &server, &mut workers).await?;
        // The first one warms up.
        if number > 0 {
            rounds.push(round);
        }
    }
    server.stop().await?;
    Ok(vec![
        Row::told("tasks over HTTP", median(rounds.iter().map(|round| round.0)), "/s")
            .bar(Bar::AtLeast(RATE_MIN)),
        Row::told("CPU of the server per task", median(rounds.iter().map(|round| round.1)), "us"),
    ])
}

async fn round(door: &Arc<Door>, server: &Server, workers: &mut Vec<Worker>) -> Result<(f64, f64)> {
    let left = Arc::new(AtomicUsize::new(TASKS));
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        callers.push(Http::connect(door.address).await?);
    }
    let (start, cpu) = (Instant::now(), server.process.cpu()?);
    let mut crowd: JoinSet<Result<Option<Worker>>> = JoinSet::new();
    for (caller, mut http) in callers.into_iter().enumerate() {
        let door = Arc::clone(door);
        crowd.spawn(async move {
            for number in (caller..TASKS).step_by(CALLERS) {
                let body = format!(
                    "{{\"title\":\"task {number}\",\"payload\":{{\"text\":\"{}\"}}}}",
                    "x".repeat(400)
                );
                http.expect(&http::post("/api/v1/tasks", &door.key, &body), 201).await?;
            }
            Ok(None)
        });
    }
    for mut worker in workers.drain(..) {
        let (door, left) = (Arc::clone(door), Arc::clone(&left));
        crowd.spawn(async move {
            while left.load(Ordering::Relaxed) > 0 {
                let done = worker.turn(&door).await?;
                left.fetch_sub(done, Ordering::Relaxed);
            }
            Ok(Some(worker))
        });
    }
    while let Some(done) = crowd.join_next().await {
        workers.extend(done.map_err(|_| Error::new("a caller panicked"))??);
    }
    let took = start.elapsed();
    let cpu = server.process.cpu()?.since(&cpu);
    Ok((TASKS as f64 / took.as_secs_f64(), cpu.as_secs_f64() * 1e6 / TASKS as f64))
}

struct Worker {
    http: Http,
    id: String,
    claim: Vec<u8>,
}

impl Worker {
    async fn register(door: &Door) -> Result<Self> {
        let mut http = Http::connect(door.address).await?;
        let ask = http::post("/api/v1/workers", &door.key, "{\"name\":\"bench\"}");
        let made: Success<Made> =
            serde_json::from_slice(http.expect(&ask, 201).await?).told("read a worker")?;
        let id = made.data.id;
        let path = format!("/api/v1/workers/{id}/claim");
        let claim = http::post(&path, &door.key, "{\"waitMs\":100}");
        Ok(Self { http, id, claim })
    }

    /// Takes what there is and ends it.
    async fn turn(&mut self, door: &Door) -> Result<usize> {
        let body = self.http.expect(&self.claim, 200).await?;
        let given: Success<Given> = serde_json::from_slice(body).told("read tasks")?;
        for task in &given.data.tasks {
            let path = format!("/api/v1/tasks/{}/complete", task.id);
            let body = format!("{{\"workerId\":\"{}\",\"attempt\":{}}}", self.id, task.attempt);
            self.http.expect(&http::post(&path, &door.key, &body), 200).await?;
        }
        Ok(given.data.tasks.len())
    }
}
